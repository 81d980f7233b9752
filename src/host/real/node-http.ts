// Node's HTTP without what an `import` of it brings along. An ES import reads every export of a built-in module, and three
// of this one's are a second HTTP client, loaded when they are read: 10 to 20 ms of processor time and 3 MB in each of the
// twenty processes of ours that a cluster starts, 80 ms in agents. Types may be imported from `node:http` as ever.
export const { Agent, createServer, request } = process.getBuiltinModule('node:http');

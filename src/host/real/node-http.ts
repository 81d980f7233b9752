// Node's HTTP without undici. An ES import reads every export of a built-in module, and three exports of node:http load
// a second HTTP client when they are read: 10 to 20 ms of CPU time and 3 MB in each of the twenty processes that a
// cluster starts, 80 ms in agents. Types may still be imported from `node:http`.
export const { Agent, createServer, request } = process.getBuiltinModule('node:http');

// One file that is the whole program, for machines and images: `npm run bundle` writes dist/firstlight.mjs.
// Usage: node tools/bundle.ts [folder]. The same sources give the same bytes.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = process.argv[2] ?? `${root}/dist`;

// CommonJS packages inside an ES module still ask for `require`, and some for their own place.
const banner = [
  "import { createRequire as __createRequire } from 'node:module';",
  'const require = __createRequire(import.meta.url);',
].join('');

/** zod says what is wrong in fifty languages, half of what each of our processes would load; we ask for one. */
const oneLanguage: Plugin = {
  name: 'one-language',
  setup: (bundle) => {
    bundle.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, ({ path }) => ({
      contents: "export { default as en } from './en.js';",
      resolveDir: dirname(path),
    }));
  },
};

/**
 * An ES import reads every export of a built-in module, whoever needs one of them. Libraries import these: of `process` the
 * streams would be opened, of `util` whole modules be loaded that nobody uses. Ours does without (`host/real/node-http.ts`).
 */
const readWhenUsed: Plugin = {
  name: 'read-when-used',
  setup: (bundle) => {
    const namespace = 'built-in';
    bundle.onResolve({ filter: /^(node:)?(process|util)$/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path: path.replace(/^(node:)?/, 'node:'), namespace } : undefined,
    );
    bundle.onLoad({ filter: /./, namespace }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}');`,
    }));
  },
};

const result = await build({
  absWorkingDir: root,
  entryPoints: { firstlight: 'src/main.ts' },
  outdir: folder,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  platform: 'node',
  format: 'esm',
  target: 'node24',
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: 'external',
  sourcesContent: false,
  legalComments: 'none',
  // Optional peers of the bill-of-materials library, for XML and validation; we write JSON and have neither installed.
  external: ['xmlbuilder2', 'libxmljs2', 'ajv', 'ajv-formats', 'ajv-formats-draft2019'],
  plugins: [oneLanguage, readWhenUsed],
  banner: { js: banner },
  metafile: true,
  logLevel: 'warning',
}).catch((error: unknown) => {
  // esbuild has already said on stderr what was wrong and where.
  console.error((error as Error).message.split('\n', 1)[0]);
  process.exitCode = 1;
  return undefined;
});

if (result !== undefined) {
  const outputs = Object.entries(result.metafile.outputs).filter(([name]) => name.endsWith('.mjs'));
  const bytes = outputs.reduce((sum, [, output]) => sum + output.bytes, 0);
  console.log(`${folder}/firstlight.mjs and ${outputs.length - 1} chunks, ${(bytes / 1e6).toFixed(2)} MB`);
}

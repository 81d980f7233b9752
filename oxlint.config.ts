// What the linter holds: who may import whom (the table is tools/rooms.ts), and what only host/ may touch.
import { defineConfig, type OxlintOverride } from 'oxlint';
import { layers } from './tools/rooms.ts';

const nodeDoors = [
  'fs',
  'fs/promises',
  'child_process',
  'net',
  'tls',
  'http',
  'https',
  'http2',
  'dns',
  'dns/promises',
  'dgram',
  'os',
  'timers',
  'timers/promises',
  'process',
  'worker_threads',
  'readline',
  'readline/promises',
];
const doorsBan = {
  group: nodeDoors.flatMap((name) => [name, `node:${name}`]),
  message: 'Files, processes, network and clock come through host/.',
};
const chanceBan = {
  group: ['crypto', 'node:crypto'],
  importNames: ['randomBytes', 'randomInt', 'randomUUID', 'randomFillSync', 'randomFill', 'webcrypto'],
  message: 'Chance comes through host/random, so that a run can be replayed from a seed.',
};

const folders = Object.keys(layers);

const layerOverrides: OxlintOverride[] = Object.entries(layers).map(([folder, allowed]) => ({
  files: [`src/${folder}/**/*.ts`],
  excludeFiles: ['**/*.test.ts'],
  rules: {
    'eslint/no-restricted-imports': [
      'error',
      {
        patterns: [
          ...(folder === 'host' ? [] : [doorsBan, chanceBan]),
          {
            group: folders
              .filter((other) => other !== folder && !allowed.includes(other))
              .flatMap((other) => [`**/../${other}/**`, `../${other}/**`]),
            message: `src/${folder}/ may import only: ${allowed.join(', ') || 'nothing else in src/'} (tools/rooms.ts).`,
          },
        ],
      },
    ],
  },
}));

export default defineConfig({
  plugins: ['eslint', 'typescript', 'unicorn', 'import', 'oxc', 'vitest'],
  categories: { correctness: 'error', suspicious: 'error' },
  ignorePatterns: ['dist/**', 'node_modules/**', '.toolchain/**', 'test/golden/**'],
  rules: {
    'eslint/no-shadow': 'off',
    'eslint/no-underscore-dangle': 'off',
    'eslint/no-await-in-loop': 'off',
    'eslint/no-console': 'error',
    'eslint/max-lines': ['error', { max: 400 }],
    'eslint/max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
    'import/no-cycle': 'error',
    'import/no-named-as-default-member': 'off',
    'import/no-default-export': 'error',
    'import/no-unassigned-import': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/switch-exhaustiveness-check': 'error',
    'typescript/no-unsafe-type-assertion': 'off',
    // Node's own types promise more than the streams keep: isTTY is undefined on a pipe.
    'typescript/no-unnecessary-boolean-literal-compare': 'off',
    'typescript/no-unnecessary-type-conversion': 'off',
    // tsc already checks it, and knows exhaustive switches.
    'typescript/consistent-return': 'off',
    'unicorn/no-process-exit': 'error',
    'vitest/require-to-throw-message': 'off',
    'vitest/no-conditional-expect': 'off',
    'vitest/expect-expect': ['error', { assertFunctionNames: ['expect', 'expect*', 'fc.assert', 'assert*'] }],
    'vitest/valid-expect': ['error', { maxArgs: 2 }],
    'unicorn/no-array-sort': 'off',
    'unicorn/no-array-fill-with-reference-type': 'off',
    'unicorn/no-array-reverse': 'off',
    'unicorn/consistent-function-scoping': 'off',
  },
  overrides: [
    {
      files: ['src/**/*.ts'],
      rules: {
        'eslint/no-restricted-imports': ['error', { patterns: [doorsBan, chanceBan] }],
        'eslint/no-restricted-globals': [
          'error',
          ...[
            'setTimeout',
            'setInterval',
            'setImmediate',
            'fetch',
            'process',
            'performance',
            'crypto',
            'WebSocket',
          ].map((name) => ({
            name,
            message: 'Time, chance, processes and network come through host/.',
          })),
        ],
        'eslint/no-restricted-properties': [
          'error',
          { object: 'Date', property: 'now', message: 'Time comes through host/clock.' },
          { object: 'Math', property: 'random', message: 'Chance comes through host/random.' },
        ],
      },
    },
    ...layerOverrides,
    {
      files: ['src/host/**/*.ts', 'src/main.ts', '**/*.test.ts'],
      rules: { 'eslint/no-restricted-globals': 'off', 'eslint/no-restricted-properties': 'off' },
    },
    { files: ['src/main.ts', '**/*.test.ts', 'src/host/**/*.ts'], rules: { 'eslint/no-restricted-imports': 'off' } },
    {
      files: ['**/*.test.ts', 'test/**/*.ts', 'bench/**/*.ts'],
      rules: { 'typescript/no-non-null-assertion': 'off', 'eslint/max-lines-per-function': 'off' },
    },
    { files: ['*.config.ts'], rules: { 'import/no-default-export': 'off' } },
    {
      files: ['bench/**/*.ts', 'tools/**/*.ts'],
      rules: { 'eslint/no-console': 'off', 'unicorn/no-process-exit': 'off' },
    },
  ],
});

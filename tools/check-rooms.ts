// Reads src/ and runs every rule of room-rules.ts over it; `./check --fast` calls it, and so may you.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { roomRules } from './room-rules.ts';
import { layers } from './rooms.ts';

/** How many rules hold; prints what breaks the others. */
export function checkRooms(): { readonly passed: number; readonly failed: number } {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'src/*.ts'], {
    encoding: 'utf8',
  });
  const sources = listed
    .split('\n')
    .filter((path) => path !== '' && !path.endsWith('.test.ts') && existsSync(path))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
  let failed = 0;
  for (const rule of roomRules) {
    const mistakes = rule.find(sources, layers);
    if (mistakes.length === 0) continue;
    failed += 1;
    console.error(`${rule.name}. ${rule.why}\n${mistakes.map((mistake) => `  ${mistake}\n`).join('')}`);
  }
  return { passed: roomRules.length - failed, failed };
}

if (import.meta.main) {
  const { passed, failed } = checkRooms();
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** What Node itself has loaded when a process of ours could speak HTTP. */
function loadedWith(module: string): readonly string[] {
  const script = `await import(${JSON.stringify(module)}); console.log(process.moduleLoadList.join('\\n'))`;
  const args = ['--input-type=module', '--eval', script];
  return execFileSync(process.execPath, args, { encoding: 'utf8' }).split('\n');
}

test('the network costs no process of ours a second HTTP client', () => {
  const client = 'NativeModule internal/deps/undici/undici';
  expect(loadedWith('node:http')).toContain(client);
  const loaded = loadedWith(new URL('network.ts', import.meta.url).href);
  expect(loaded).toContain('NativeModule https');
  expect(loaded).not.toContain(client);
});

// Gets the real tools that judge us: Debian packages by apt, upstream programs by our own release build.
import { spawnSync } from 'node:child_process';

/** Program → Debian package that brings it. */
const debianTools: Readonly<Record<string, string>> = { openssl: 'openssl', gpg: 'gnupg', gpgv: 'gpgv' };

/** True when every oracle is there; says what is missing otherwise. */
export async function prepareOracles(): Promise<boolean> {
  const missing = Object.entries(debianTools).filter(([program]) => !isInstalled(program));
  if (missing.length === 0) return true;
  const packages = missing.map(([, name]) => name);
  console.log(`installing ${packages.join(', ')}`);
  spawnSync('apt-get', ['update'], { stdio: 'ignore' });
  const result = spawnSync('apt-get', ['install', '-y', '--no-install-recommends', ...packages], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  return result.status === 0;
}

function isInstalled(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
}

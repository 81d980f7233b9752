// Ignition configs for machines of tests.
import { writeFileSync } from 'node:fs';

export const ignitionVersion = '3.5.0';

export function dataUrl(content: string): string {
  return `data:;base64,${Buffer.from(content).toString('base64')}`;
}

/** The config as a file, with the version added. */
export function writeIgnition(path: string, config: object): string {
  const ignition = 'ignition' in config ? (config.ignition as object) : {};
  writeFileSync(path, JSON.stringify({ ...config, ignition: { version: ignitionVersion, ...ignition } }));
  return path;
}

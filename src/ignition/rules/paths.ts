// What a path in a config must look like: absolute, and equal to its lexically shortest form. Cleaning is purely
// lexical, as Go's path.Clean does it; nothing is looked up anywhere.
import type { ProblemCode } from '../problems.ts';

export function pathProblem(path: string): ProblemCode | undefined {
  if (path === '') return 'NO_PATH';
  if (!path.startsWith('/')) return 'RELATIVE_PATH';
  return cleanPath(path) === path ? undefined : 'DIRTY_PATH';
}

/** The shortest path with the same meaning; never empty, no trailing slash but for the root. */
export function cleanPath(path: string): string {
  const isAbsolute = path.startsWith('/');
  const kept: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') kept.push(part);
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop();
    else if (!isAbsolute) kept.push(part);
  }
  return isAbsolute ? `/${kept.join('/')}` : kept.join('/') || '.';
}

/** The part of a file name from its last dot on, or nothing. */
export function extension(name: string): string {
  return /\.[^./]*$/.exec(name)?.[0] ?? '';
}

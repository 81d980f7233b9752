// What the tests under fire saw, as numbers: kept while they run, printed at their end. They judge nothing; how long
// something may take at most is a deadline in the tests, how long it takes is told here.
const figures: string[] = [];

export function note(what: string, startMs: number): void {
  figures.push(`${what}: ${((performance.now() - startMs) / 1000).toFixed(1)} s`);
}

export function printFigures(): void {
  process.stdout.write(`\n${figures.join('\n')}\n`);
}

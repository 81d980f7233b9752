// The same work for many things, only so many of them at a time.
export async function fewAtATime<T>(
  things: readonly T[],
  together: number,
  work: (thing: T) => Promise<void>,
): Promise<void> {
  const waiting = [...things];
  const turns = Array.from({ length: Math.min(together, things.length) }, async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await work(next);
  });
  await Promise.all(turns);
}

// Runs work over a list with a limit on how much is under way. A failure is thrown only when nothing is under way any
// more, so that nobody works on behind the back of the caller.

/** Begins in the order of the list, with at most `limit` under way. */
export async function aFewAtATime<T>(
  items: readonly T[],
  limit: number,
  run: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  const work = async (): Promise<void> => {
    for (const item of rest) await run(item);
  };
  const results = await Promise.allSettled(Array.from({ length: Math.min(limit, items.length) }, work));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

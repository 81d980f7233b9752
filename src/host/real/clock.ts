// The machine's clocks. Timers are unreferenced nowhere: a pending wait keeps the process alive on purpose.
import type { Clock } from '../clock.ts';

export function realClock(): Clock {
  return {
    now: () => new Date(),
    monotonicMs: () => performance.now(),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason as Error);
        const onAbort = (): void => {
          clearTimeout(timer);
          reject(signal?.reason as Error);
        };
        const timer = setTimeout(() => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        }, ms);
        signal?.addEventListener('abort', onAbort, { once: true });
      }),
    after: (ms, call) => {
      const timer = setTimeout(call, ms);
      return { [Symbol.dispose]: () => clearTimeout(timer) };
    },
  };
}

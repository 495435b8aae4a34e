// Limits how long to wait for work.

/**
 * Rejects when the work takes longer than `ms`. The work itself continues, because nothing can cancel it. Time that it
 * spends on one long wait, `waiting()` ms by now, does not count; many short ones do, or it could ask without end.
 */
export async function withTimeout<T>(
  ms: number,
  what: string,
  work: () => T | Promise<T>,
  waiting = () => 0,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    let used = 0;
    timer = setInterval(() => {
      if (waiting() < ms / 10 && ++used === 10) reject(new Error(`${what} took longer than ${ms / 1000} s`));
    }, ms / 10);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearInterval(timer);
  }
}

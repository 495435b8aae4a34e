// Limits how long to wait for work.

/** Rejects when the work takes longer than `ms`. The work itself continues, because nothing can cancel it. */
export async function withTimeout<T>(ms: number, what: string, work: () => T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}

// Long work whose caller waits for the reply.

/** A connection on which nothing happens is cut after half a minute. */
const EVERY_MS = 10_000;

/** Holds the caller's connection open during work that has limits of its own. */
export async function holdingOpen<T>(progressed: () => void, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(progressed, EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

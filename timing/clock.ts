// The source of time, which tests can replace.
export interface Clock {
  /** Unix ms */
  now(): number;
  /** Calls back every `ms` until the returned function is called. */
  every(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  every: (ms, run) => {
    const timer = setInterval(run, ms);
    return () => clearInterval(timer);
  },
};

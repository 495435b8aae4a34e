// Waits for earlier work while it makes progress, so that work which waits for itself ends.

/** Rejects with `stuck()` when `earlier` has not ended and made no progress for `patience` ms; `since` says when it last made any (`performance.now()`). It looks after `first` ms. */
export async function whileInProgress(
  earlier: Promise<unknown>,
  patience: number,
  since: () => number,
  stuck: () => unknown,
  first = patience,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const look = (): void => {
      const left = since() + patience - performance.now();
      if (left > 0) timer = setTimeout(look, left);
      else reject(stuck());
    };
    timer = setTimeout(look, first);
  });
  try {
    await Promise.race([earlier, late]);
  } finally {
    clearTimeout(timer);
  }
}

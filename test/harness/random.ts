// Random numbers that are the same in every run.
export interface Random {
  /** an integer from 0, below this one */
  below(limit: number): number;
  /** undefined of an empty list */
  pick<T>(list: readonly T[]): T | undefined;
}

/** Lehmer's generator, with the factor of `minstd_rand`. */
export function random(seed: number): Random {
  let state = seed;
  const below = (limit: number): number => (state = (state * 48_271) % 2_147_483_647) % limit;
  return { below, pick: (list) => list[below(Math.max(list.length, 1))] };
}

// How long others wait for a plugin, and when it is said that they do.
export const LIMITS = {
  start: 30_000,
  /** a start that takes longer is named in the log, and `ready` does not wait for it where the plugin is from outside */
  slowStart: 2_000,
  essentialStart: 120_000,
  tap: 5_000,
  /** there is one writer: whoever waits for it waits for this tap */
  during: 2_000,
  event: 60_000,
  job: 2_000,
  slow: 200,
} as const;
export type Limits = { readonly [K in keyof typeof LIMITS]: number };

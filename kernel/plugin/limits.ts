// How long others wait for a plugin, and when the log reports a slow one. All in ms.
export const LIMITS = {
  start: 30_000,
  /** a start that takes longer is logged, and `ready` does not wait for it if the plugin is a third-party one */
  slowStart: 2_000,
  essentialStart: 120_000,
  tap: 5_000,
  /** there is one writer: other writes wait for this tap */
  during: 2_000,
  event: 60_000,
  /** how long a stop waits for jobs, and for each tap of beforeKernelStop */
  stop: 2_000,
  slow: 200,
} as const;
export type Limits = { readonly [K in keyof typeof LIMITS]: number };

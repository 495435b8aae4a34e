// How Node runs the programs of tests.
/** They live for seconds, too short to earn back what optimised code costs: a quarter of the CPU time of a start. Not for the bench, which measures the panel as it is. */
export const nodeFlags: readonly string[] =
  process.env['NODE_ENV'] === 'test' ? ['--interrupt-budget=5000000'] : [];

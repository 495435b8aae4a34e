import { int, setting, inSection } from '../../kernel/index.js';

/** A core without users has 30 MiB: a lower limit would always be exceeded. */
const LEAST_MIB = 64;
const MOST_MIB = 1 << 20;

const mebibytes = (least: number) =>
  int()
    .min(least)
    .max(MOST_MIB)
    .custom((value: number) => {
      if (value > 0 && value < LEAST_MIB) throw new Error(`must be 0 or at least ${LEAST_MIB}`);
      return value;
    });

export const engineSettings = inSection(
  'Memory of the core',
  {
    engineMemoryAlert: setting(
      mebibytes(-1),
      -1,
      'memory of the core, in MiB, above which the panel warns; -1: 60 % of the machine, or of the limit of its container; 0: never',
      { unit: 'MiB' },
    ),
    engineMemoryRestart: setting(
      mebibytes(0),
      0,
      'memory of the core, in MiB, above which the panel restarts it, after a last poll and at most every ten minutes; that closes all connections; 0: never',
      { unit: 'MiB' },
    ),
  },
  { level: 'advanced' },
);

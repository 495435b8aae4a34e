// How V8 uses memory. The program imports this first: what is loaded after it would let the young generation grow.
import { setFlagsFromString } from 'node:v8';

// By itself a heap grows to four times its live size before it is collected. A quarter more is as fast and needs half of the
// memory: most of what lives are clients, and they stay. The young generation would grow to 32 MB, kept for good; in the
// 2 MB that it begins with, the panel needs no more CPU time (docs/benchmarks.md). One thread collects so little in half a
// millisecond; where it waits for helpers, the event loop stands still until they get a CPU.
for (const flag of ['--heap-growing-percent=25', '--semi-space-growth-factor=1', '--no-parallel-scavenge'])
  setFlagsFromString(flag);

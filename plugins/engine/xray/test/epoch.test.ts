import test from 'ava';
import type { ProcessIdentity, RunningProcess } from '../../../processes/contract.js';
import { type CoreNote, describe } from '../record.js';

const identity: ProcessIdentity = { pid: 4711, startTicks: '100', bootId: 'a' };
const epochOf = (changes: Partial<ProcessIdentity>): string =>
  describe({ identity: { ...identity, ...changes }, startedAt: 1 } as RunningProcess<CoreNote>).epoch;

test('a core with the process id of a previous one has an epoch of its own: its counters begin at zero', (t) => {
  t.is(epochOf({}), epochOf({}));
  const epochs = [{}, { startTicks: '101' }, { bootId: 'b' }, { pid: 4712 }].map(epochOf);
  t.is(new Set(epochs).size, epochs.length);
});

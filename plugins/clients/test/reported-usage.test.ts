// Sources of usage of other plugins: what a failure of one does to replies.
import test from 'ava';
import { type Contributed, kernelErrors, type PluginContext } from '../../../kernel/index.js';
import type { UsageSource } from '../contract.js';
import { ShownUsage } from '../lists/shown-usage.js';

const shownBy = (usageOf: UsageSource['usageOf'], faults: unknown[]): ShownUsage => {
  const entry: Contributed<UsageSource> = {
    plugin: 'other',
    value: { usageOf },
    fault: (_where, error) => void faults.push(error),
  };
  return new ShownUsage({ contributions: (() => [entry]) as unknown as PluginContext['contributions'] });
};
const record = () => ({ id: 1, up: 1, down: 1 });

test('a source whose memory is being loaded again is asked the next time', (t) => {
  const faults: unknown[] = [];
  let isLoading = true;
  const usage = shownBy(() => {
    if (isLoading) throw kernelErrors.PLUGIN_OFF();
    return { up: 5, down: 5 };
  }, faults);
  t.deepEqual(usage.raise(record()), { id: 1, up: 1, down: 1 });
  isLoading = false;
  t.deepEqual(usage.raise(record()), { id: 1, up: 5, down: 5 });
  t.deepEqual(faults, []);
});

test('a source that fails is not asked again', (t) => {
  const faults: unknown[] = [];
  let calls = 0;
  const usage = shownBy(() => {
    calls++;
    throw new Error('out of order');
  }, faults);
  for (let i = 0; i < 3; i++) t.deepEqual(usage.raise(record()), { id: 1, up: 1, down: 1 });
  t.is(calls, 1);
  t.is(faults.length, 1);
});

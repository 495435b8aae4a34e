// Live messages are the work of others as well: whatever one of them does, newcomers are told the rest.
import test from 'ava';
import { definePlugin, contribute } from '../../../kernel/index.js';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { LiveTypes } from '../contract.js';
import { Listener } from './listener.js';

const crash = (): never => {
  throw new Error('weeds');
};

test('a snapshot that never comes, and a start that throws, keep nobody from the stream and are named', async (t) => {
  const bad = definePlugin({
    name: 'bad',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    contributes: () => [
      contribute(LiveTypes, { type: 'hanging', snapshot: () => new Promise(() => undefined) }),
      contribute(LiveTypes, { type: 'throwing', snapshot: () => 'well', start: crash }),
    ],
  });
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [bad] });
  t.is(panel.kernel.plugins().find(({ name }) => name === 'realtime')?.state, 'running');
  const listener = Listener.plain(panel);
  t.teardown(() => listener.close());
  const { payload } = await listener.first('snapshot');
  t.deepEqual(Object.keys(payload).sort(), [
    'client_jobs',
    'client_stats',
    'engine_install',
    'engine_state',
    'nodes',
    'outbounds',
    'status',
    'throwing',
    'traffic',
  ]);
  const faults = panel.log
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === 'plugin fault');
  t.deepEqual(
    faults.map(({ plugin, where }) => `${String(plugin)}: ${String(where)}`),
    ['bad: start of the live messages throwing', 'bad: snapshot of the live messages hanging'],
  );
});

// Sources decide who is online; one that returns something invalid is skipped.
import test from 'ava';
import { definePlugin, contribute } from '../../../kernel/index.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { type PresenceSource, PresenceSources } from '../contract.js';

test('skips and names a source that throws or returns a promise, and asks it once for each list', async (t) => {
  const sources: PresenceSource[] = [
    {
      isOnline: () => {
        throw new Error('weeds');
      },
    },
    { isOnline: (() => new Promise(() => undefined)) as never },
    { isOnline: (id) => id === 2 },
  ];
  const bad = definePlugin({
    name: 'bad',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    contributes: () => sources.map((source) => contribute(PresenceSources, source)),
  });
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [bad] });
  const inbound = await panel.addInbound();
  for (const email of ['ada', 'ben', 'cy']) await panel.addClient(email, [inbound]);
  const { summary } = await panel.get<{ summary: { online: string[] } }>(
    '/panel/api/clients/list/paged?page=1&pageSize=10',
  );
  t.deepEqual(summary.online, ['ben']);
  const faults = panel.log
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === 'plugin fault');
  t.true(faults.length > 0 && faults.length <= 2, String(faults.length));
  t.deepEqual(
    [...new Set(faults.map(({ plugin, where }) => `${String(plugin)}: ${String(where)}`))],
    ['bad: a source of presence'],
  );
});

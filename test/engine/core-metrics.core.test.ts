// Figures of a real core, over the API of a whole panel.
import test from 'ava';
import { engineOf, openPanel } from './user.js';

interface Point {
  readonly t: number;
  readonly v: number;
}

test('the memory of the core is shown and recorded while it runs, and the reason while it does not', async (t) => {
  const panel = await openPanel(t);
  const server = <T>(path: string) => panel.get<T>(`/panel/api/server/${path}`);
  const history = (metric: string) => server<Point[]>(`engineMetricsHistory/${metric}/2`);
  await panel.until(async () => (await history('xrSys')).length >= 2, 'two samples are taken');
  t.deepEqual(await server('engineMetricsState'), { enabled: true, listen: '', reason: '' });
  const [alloc, sys] = [(await history('xrAlloc')).at(-1)?.v ?? 0, (await history('xrSys')).at(-1)?.v ?? 0];
  t.true(alloc > 1_000_000 && alloc < sys && sys < 200 << 20, `${alloc} ${sys}`);
  for (const metric of ['xrHeapObjects', 'xrNumGC', 'xrPauseNs'])
    t.true(((await history(metric)).at(-1)?.v ?? 0) > 0, metric);
  t.deepEqual(await server('engineObservatory'), []);

  const memoryOf = async () => (await engineOf(panel)).memory;
  await panel.until(async () => (await memoryOf()).bytes > 0, 'its memory is measured');
  const memory = await memoryOf();
  t.true(memory.bytes > 10 << 20 && memory.bytes < 200 << 20, `${memory.bytes}`);
  t.true(memory.limit > memory.bytes);
  t.false(memory.isHigh);

  const changed = (body: object) => panel.call('/panel/api/setting/update', { body });
  for (const [name, value] of [
    ['engineMemoryAlert', 63],
    ['engineMemoryAlert', -2],
    ['engineMemoryRestart', -1],
    ['engineMemoryRestart', 1.5],
  ] as const) {
    const { status, text } = await changed({ [name]: value });
    t.is(status, 400, text);
    t.regex(text, new RegExp(name));
  }
  const asSet = await changed({ engineMemoryAlert: 64, engineMemoryRestart: 4096 });
  t.is(asSet.status, 200, asSet.text);
  await panel.until(async () => (await memoryOf()).limit === 64 << 20, 'the limit is in force');

  await panel.get('/panel/api/server/stopEngineService', { method: 'POST' });
  t.is((await memoryOf()).bytes, 0);
  t.deepEqual(await server('engineMetricsState'), {
    enabled: false,
    listen: '',
    reason: 'the core does not run: an admin stopped it',
  });
  t.is(await panel.get('/panel/api/engine/getEngineResult'), 'an admin stopped it');
  await panel.get('/panel/api/server/restartEngineService', { method: 'POST' });
  t.is(await panel.get('/panel/api/engine/getEngineResult'), '');
  await panel.until(
    async () => (await server<{ enabled: boolean }>('engineMetricsState')).enabled,
    'the new core is sampled',
  );
});

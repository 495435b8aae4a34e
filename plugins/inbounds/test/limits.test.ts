// An inbound that its limit disabled, and what programs send back of it.
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';

interface Shown {
  readonly enable: boolean;
  readonly depletedCause: string | null;
  readonly remark: string;
}
const API = '/panel/api/inbounds';

test('an echo of what a limit disabled is no choice of an admin, and the inbound returns when the limit is lifted', async (t) => {
  const clock = new FakeClock();
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock });
  const id = await panel.addInbound({ expiryTime: clock.now() - 1 });
  const shown = async () => {
    const { enable, depletedCause, remark } = await panel.get<Shown>(`${API}/get/${id}`);
    return [enable, depletedCause, remark];
  };
  const update = (body: object) => panel.get(`${API}/update/${id}`, { body });
  t.deepEqual(await shown(), [false, 'expiry', 'test']);
  await update({ enable: false, remark: 'echo' });
  t.deepEqual(await shown(), [false, 'expiry', 'echo']);
  await update({ expiryTime: 0 });
  t.deepEqual(await shown(), [true, null, 'echo']);
  await update({ enable: false });
  await update({ expiryTime: clock.now() - 1 });
  await update({ expiryTime: 0 });
  t.deepEqual(await shown(), [false, null, 'echo'], 'an admin switched it off');

  // An import starts as if no limit had been reached.
  const { port } = await panel.get<{ port: number }>(`${API}/get/${id}`);
  await panel.get(`${API}/del/${id}`, { method: 'POST' });
  const imported = async (more: object): Promise<unknown> => {
    const data = JSON.stringify({ protocol: 'vless', listen: '127.0.0.1', port, enable: false, ...more });
    await panel.get(`${API}/import`, { body: { data } });
    const [row] = await panel.get<(Shown & { id: number })[]>(`${API}/list`);
    await panel.get(`${API}/del/${row?.id}`, { method: 'POST' });
    return row?.enable;
  };
  t.deepEqual([await imported({ depletedCause: 'quota' }), await imported({})], [true, false]);

  t.false('countedSince' in (await panel.get<object>(`${API}/get/${await panel.addInbound()}`)));
});

test('the core forgets one inbound that is deleted from a list, as it forgets several', async (t) => {
  const engine = new FakeEngine();
  await using panel = await TestPanel.boot({ plugins: [engine.plugin] });
  const [a, b, c] = [await panel.addInbound(), await panel.addInbound(), await panel.addInbound()];
  const remaining = async (ids: readonly unknown[]): Promise<number> => {
    await panel.get(`${API}/bulkDel`, { body: { ids } });
    return engine.inbounds.length;
  };
  t.is(engine.inbounds.length, 3);
  t.is(await remaining([a]), 2);
  t.is(await remaining([a]), 2, 'it is gone already');
  t.is(await remaining([b, c, a]), 0);
});

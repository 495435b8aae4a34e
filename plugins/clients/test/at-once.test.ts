// Runs on every database.
// Calls that come at the same moment: the core has the users that memory and the database say, whoever came first.
import test, { type ExecutionContext } from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';

async function boot(t: ExecutionContext) {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const panel = await TestPanel.boot({ plugins: [engine.plugin], clock });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const [first, second] = [await panel.addInbound(), await panel.addInbound()];
  const { id } = await panel.addClient('a', [first]);
  const post = (path: string, body: object = {}): Promise<unknown> =>
    panel.get(`/panel/api/clients/${path}`, { method: 'POST', body });
  return { engine, clock, panel, first, second, id, post };
}

test('a client that is disabled while it is attached is a user of no inbound', async (t) => {
  const { engine, second, post } = await boot(t);
  await Promise.all([post('a/attach', { inboundIds: [second] }), post('update/a', { enable: false })]);
  t.deepEqual([...engine.users.keys()], []);
});

test('a client that is deleted while it is attached is a user of no inbound', async (t) => {
  const { engine, second, post } = await boot(t);
  await Promise.all([post('a/attach', { inboundIds: [second] }), post('del/a')]);
  t.deepEqual([...engine.users.keys()], []);
});

test('a client whose UUID changes while it is attached has the new one at every inbound', async (t) => {
  const { engine, second, post } = await boot(t);
  const uuid = '6ba7b810-9dad-41d1-80b4-00c04fd430c8';
  await Promise.all([post('a/attach', { inboundIds: [second] }), post('update/a', { uuid })]);
  t.deepEqual(
    [...engine.users.values()].map((account) => account['id']),
    [uuid, uuid],
  );
});

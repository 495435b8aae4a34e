// Runs on every database.
// Retained usage belongs to an email, and is given back once.
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';

const API = '/panel/api/clients';

test('retained usage is given to one client, and replaced when a renamed one leaves its own', async (t) => {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  await using panel = await TestPanel.boot({ plugins: [engine.plugin], clock });
  const inboundId = await panel.addInbound();
  const add = (email: string) => panel.addClient(email, [inboundId]);
  const use = async (id: number, down: number): Promise<void> => {
    engine.move(inboundId, id, 0, down);
    clock.tick(5000);
    await panel.kernel.settled();
  };
  const used = async (email: string): Promise<number> =>
    (await panel.get<{ down: number }>(`${API}/traffic/${email}`)).down;
  const remove = (email: string) => panel.get(`${API}/del/${email}?keepTraffic=1`, { method: 'POST' });
  const rename = (email: string, next: string) =>
    panel.get(`${API}/update/${email}`, { body: { email: next } });

  await use((await add('a')).id, 100);
  await remove('a');
  await add('a');
  t.is(await used('a'), 100);
  await rename('a', 'c');
  await add('a');
  t.is(await used('a'), 0, 'it was given back already');

  await use((await add('x')).id, 7);
  await remove('x');
  await use((await add('y')).id, 30);
  await rename('y', 'x');
  await remove('x');
  await add('x');
  t.is(await used('x'), 30);
});

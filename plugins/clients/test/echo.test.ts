// Programs read a client, change one field and send back the whole.
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';

test("raising a limit enables a client even if a program sends enable back; an admin's choice takes precedence", async (t) => {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  await using panel = await TestPanel.boot({ plugins: [engine.plugin], clock });
  const inboundId = await panel.addInbound();
  const { id } = await panel.addClient('a', [inboundId], { totalGB: 1000 });
  const get = (): Promise<Record<string, unknown>> => panel.get('/panel/api/clients/get/a');
  const save = (fields: object): Promise<unknown> =>
    panel.get('/panel/api/clients/update/a', { body: fields });
  engine.move(inboundId, id, 0, 1000);
  clock.tick(5000);
  await panel.kernel.settled();
  const shown = await get();
  t.false(shown['enable']);
  await save({ ...shown, comment: 'still at its limit' });
  t.like(await get(), { enable: false, comment: 'still at its limit' });
  await save({ ...shown, totalGB: 5000 });
  t.true((await get())['enable']);

  await save({ ...(await get()), enable: false });
  await save({ ...(await get()), totalGB: 9000 });
  t.false((await get())['enable'], 'a person switched it off');
});

// A renewed client carries bytes again, on every inbound that it is attached to.
import test from 'ava';
import { connect, counted, MIB, openPanel, openServer, poll, usageOf } from '../../../test/engine/user.js';

test('a client that expired is cut off, renews with the next poll, and its bytes count from zero', async (t) => {
  const panel = await openPanel(t);
  const server = await openServer(t);
  const inboundIds = [await panel.addInbound(), await panel.addInbound()];
  await panel.addClient('ann', inboundIds);
  const users = [await connect(t, panel, 'ann', server, 0), await connect(t, panel, 'ann', server, 1)];
  t.is(await users[0]?.download(2 * MIB), 2 * MIB);
  await counted(panel, 'ann', 2 * MIB);

  const update = (body: object) => panel.get('/panel/api/clients/update/ann', { body });
  const expiryTime = Date.now() - 1000;
  await update({ expiryTime });
  for (const user of users) t.false(await user.served());
  await poll(panel);
  t.false((await usageOf(panel, 'ann')).enable, 'nothing renews it');

  await update({ reset: 1 });
  await poll(panel);
  t.like(await usageOf(panel, 'ann'), {
    enable: true,
    up: 0,
    down: 0,
    expiryTime: expiryTime + 86_400_000,
    resetCount: 1,
  });
  for (const user of users) t.is(await user.download(MIB / 2), MIB / 2);
  const down = await counted(panel, 'ann', MIB);
  t.true(down < 1.5 * MIB, 'the bytes of the last period are gone');
});

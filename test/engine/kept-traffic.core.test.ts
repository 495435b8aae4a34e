// A client is deleted in mid-transfer and its traffic kept: nothing of what its program received is missing.
import test from 'ava';
import { connect, counted, MIB, openPanel, openServer, usageOf } from './user.js';

test('a client that is deleted with its traffic kept and comes back has all its bytes, those of its last moment too', async (t) => {
  const server = await openServer(t);
  const panel = await openPanel(t);
  const inboundId = await panel.addInbound();
  await panel.addClient('a', [inboundId]);
  const user = await connect(t, panel, 'a', server);
  await user.download(4 * MIB);
  await counted(panel, 'a', 4 * MIB);
  // No poll sees these before the deletion.
  let received = 4 * MIB + (await user.download(3 * MIB));
  let soFar = 0;
  const running = user
    .download(400 * MIB, { rate: 8 * MIB, onBytes: (bytes) => void (soFar = bytes) })
    .catch(() => undefined);
  await panel.until(() => soFar > 4 * MIB, 'a transfer is under way');
  await panel.get('/panel/api/clients/del/a?keepTraffic=1', { method: 'POST' });
  await panel.addClient('a', [inboundId]);
  t.true((await usageOf(panel, 'a')).down >= 11 * MIB, 'what had come before the deletion is there at once');
  await user.end();
  await running;
  received += soFar;
  const down = await counted(panel, 'a', received);
  t.true(down <= received * 1.02 + 16 * MIB, `${down} of ${received}`);
});

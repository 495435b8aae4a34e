// Runs on every database.
import test from 'ava';
import { connect, MIB, openPanel, openServer, usageOf } from './user.js';

test('a client over its quota gets no new connection after a poll and comes back when it is raised, all on one core', async (t) => {
  const server = await openServer(t);
  const panel = await openPanel(t);
  const inboundId = await panel.addInbound();
  await panel.addClient('a', [inboundId], { totalGB: 2 * MIB });
  await panel.addClient('b', [inboundId]);
  const core = await panel.corePid();
  const [a, b] = [await connect(t, panel, 'a', server), await connect(t, panel, 'b', server)];
  await a.download(MIB);
  t.true(await a.served(), 'half of the quota is no reason');
  await a.download(2 * MIB);
  await panel.until(async () => !(await a.served()), 'the core lets the client in no more');
  t.false((await usageOf(panel, 'a')).enable);
  t.true(await b.served());

  await panel.get('/panel/api/clients/update/a', { body: { totalGB: 100 * MIB } });
  t.true((await usageOf(panel, 'a')).enable);
  t.true(await a.served(), 'the answer came after the core had it');
  t.is(await panel.corePid(), core);
});

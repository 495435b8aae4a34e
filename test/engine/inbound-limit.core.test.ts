// An inbound has limits of its own: at one it leaves the core, which goes on with all others.
import test from 'ava';
import { connect, MIB, openPanel, openServer, usageOf } from './user.js';

interface Inbound {
  readonly enable: boolean;
  readonly depletedCause: string | null;
}

test('an inbound over its total lets nobody in, others go on, and a reset brings it back, all on one core', async (t) => {
  const server = await openServer(t);
  const panel = await openPanel(t);
  const [small, large] = [await panel.addInbound({ total: 2 * MIB }), await panel.addInbound()];
  await panel.addClient('a', [small]);
  await panel.addClient('b', [large]);
  const core = await panel.corePid();
  const [a, b] = [await connect(t, panel, 'a', server), await connect(t, panel, 'b', server)];
  t.true(await a.served());
  let during = 0;
  const other = b.download(24 * MIB, { rate: 2 * MIB, onBytes: (soFar) => void (during = soFar) });
  await a.download(3 * MIB);
  const inbound = (): Promise<Inbound> => panel.get(`/panel/api/inbounds/get/${small}`);
  await panel.until(async () => !(await inbound()).enable, 'the inbound is switched off');
  t.is((await inbound()).depletedCause, 'quota');
  t.false(await a.served());
  t.true((await usageOf(panel, 'a')).enable, 'its clients are not at a limit of theirs');

  const before = during;
  await panel.get(`/panel/api/inbounds/${small}/resetTraffic`, { method: 'POST' });
  t.like(await inbound(), { enable: true, depletedCause: null });
  t.true(await a.served(), 'the answer came after the core had it');
  t.is(await other, 24 * MIB, 'the transfer of the other inbound was whole');
  t.true(before > 0);
  t.is(await panel.corePid(), core);
});

// The panel starts again in its process to switch a plugin, and the core hears nothing of it.
import test from 'ava';
import type { PanelProcess } from '../harness/panel-process.js';
import { connect, counted, MIB, openPanel, openServer, usageOf, within } from './user.js';

async function switched(panel: PanelProcess, name: string, enable: boolean): Promise<void> {
  const { starts } = panel;
  await panel.get(`/panel/api/system/plugins/${name}`, { body: { enable } });
  await panel.until(() => panel.starts > starts, 'the panel is back');
}

test('a transfer runs on while a plugin goes off and comes back, and every byte is counted once', async (t) => {
  const server = await openServer(t);
  const panel = await openPanel(t);
  const inboundId = await panel.addInbound();
  await panel.addClient('a', [inboundId]);
  const core = await panel.corePid();
  t.truthy(core);
  const user = await connect(t, panel, 'a', server);

  const bytes = 40 * MIB;
  let soFar = 0;
  const transfer = user.download(bytes, { rate: MIB, onBytes: (now) => (soFar = now) });
  t.true((await counted(panel, 'a', 1)) < bytes);
  for (const enable of [false, true]) {
    const before = (await usageOf(panel, 'a')).down;
    await switched(panel, 'keygen', enable);
    t.is(panel.ready.engine, 'running');
    t.is(await panel.corePid(), core);
    // Polls of the new panel go on where those of the former one ended.
    t.true((await counted(panel, 'a', before + 1)) <= bytes * 1.02);
    t.true(await user.served(), 'new connections are let in');
  }
  t.true(soFar < bytes, 'the transfer still runs');
  t.is(await transfer, bytes);
  t.is(panel.log.filter(({ msg }) => msg === 'a running core was found and taken over').length, 2);
  t.deepEqual(
    panel.log
      .filter(({ msg }) => ['core stopped', 'core ended', 'core started'].includes(msg))
      .map(({ msg }) => msg),
    ['core started'],
  );
  const total = await counted(panel, 'a', bytes);
  t.true(within(total, bytes), `counted ${total} of ${bytes}`);
  t.is(
    (await panel.get<{ down: number }>(`/panel/api/inbounds/get/${inboundId}`)).down,
    total,
    'the inbound has what its only client has',
  );

  // The panel that came knows the core as its own: what it is told reaches it, and its end is noticed.
  await panel.get('/panel/api/clients/update/a', { body: { email: 'a', enable: false } });
  t.false(await user.served());
  t.deepEqual(await panel.kill('SIGTERM'), { code: 0, signal: null });
  t.is(await panel.corePid(), undefined, 'the core ends with its panel');
});

test('a core that dies after a restart of the panel is noticed and started again', async (t) => {
  const panel = await openPanel(t);
  const core = await panel.corePid();
  await switched(panel, 'keygen', false);
  process.kill(core ?? 0, 'SIGKILL');
  await panel.until(async () => ![undefined, core].includes(await panel.corePid()), 'another core runs');
  await panel.until(
    async () =>
      (await panel.get<{ engine: { state: string } }>('/panel/api/server/status')).engine.state === 'running',
    'the panel knows that it runs',
  );
  t.pass();
});

// The panel restarts in its process to enable or disable a plugin; the core does not notice.
import test from 'ava';
import type { PanelProcess } from '../harness/panel-process.js';
import { connect, counted, MIB, openServer, spawnPanel, usageOf, within } from './user.js';

async function setPlugin(panel: PanelProcess, name: string, enable: boolean): Promise<void> {
  const { starts } = panel;
  await panel.get(`/panel/api/system/plugins/${name}`, { body: { enable } });
  await panel.until(() => panel.starts > starts, 'the panel is back');
}

test('a transfer continues while a plugin is disabled and enabled again, every byte is counted once, and the core remains the panel’s', async (t) => {
  const server = await openServer(t);
  const panel = await spawnPanel(t);
  const inboundId = await panel.addInbound();
  await panel.addClient('a', [inboundId]);
  const core = await panel.corePid();
  t.truthy(core);
  const user = await connect(t, panel, 'a', server);

  const bytes = 20 * MIB;
  const transfer = user.start(bytes, MIB);
  t.true((await counted(panel, 'a', 1)) < bytes);
  for (const enable of [false, true]) {
    const before = (await usageOf(panel, 'a')).down;
    await setPlugin(panel, 'keygen', enable);
    t.is(panel.ready.engine, 'running');
    t.is(await panel.corePid(), core);
    // Polls of the new panel continue where those of the previous one ended.
    t.true((await counted(panel, 'a', before + 1)) <= bytes * 1.02);
    t.true(await user.served(), 'new connections are accepted');
  }
  t.true(transfer.soFar < bytes, 'the transfer still runs');
  t.is(await transfer.ended, bytes);
  const logged = (...messages: string[]): string[] =>
    panel.log.map(({ msg }) => msg).filter((msg) => messages.includes(msg));
  t.is(logged('adopted a running core').length, 2);
  t.deepEqual(logged('core stopped', 'core exited', 'core started'), ['core started']);
  const total = await counted(panel, 'a', bytes);
  t.true(within(total, bytes), `counted ${total} of ${bytes}`);
  t.is(
    (await panel.get<{ down: number }>(`/panel/api/inbounds/get/${inboundId}`)).down,
    total,
    'the inbound has what its only client has',
  );

  // The new panel knows the core as its own: edits reach it, and its crash is noticed.
  await panel.get('/panel/api/clients/update/a', { body: { email: 'a', enable: false } });
  t.false(await user.served());
  process.kill(core ?? 0, 'SIGKILL');
  await panel.until(async () => ![undefined, core].includes(await panel.corePid()), 'another core runs');
  await panel.until(
    async () =>
      (await panel.get<{ engine: { state: string } }>('/panel/api/server/status')).engine.state === 'running',
    'the panel knows that it runs',
  );
  t.deepEqual(await panel.kill('SIGTERM'), { code: 0, signal: null });
  t.is(await panel.corePid(), undefined, 'the core ends with its panel');
});

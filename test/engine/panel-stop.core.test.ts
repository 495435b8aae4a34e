// The panel is told to end: it counts once more and takes its core along.
import test from 'ava';
import { access } from 'node:fs/promises';
import { connect, MIB, openPanel, openServer, usageOf, within } from './user.js';

test('SIGTERM ends panel and core, and the bytes since the last poll are in the database', async (t) => {
  const server = await openServer(t);
  const first = await openPanel(t);
  await first.addClient('a', [await first.addInbound()]);
  const core = await first.corePid();
  const user = await connect(t, first, 'a', server);
  // A poll may fall between transfer and look; then there are bytes again that no poll has seen.
  let moved = 0;
  do moved += await user.download(4 * MIB);
  while ((await usageOf(first, 'a')).down >= moved);

  const told = Date.now();
  t.deepEqual(await first.kill('SIGTERM'), { code: 0, signal: null });
  t.true(Date.now() - told < 10_000);
  await t.throwsAsync(access(`/proc/${core}`), { code: 'ENOENT' });
  t.is(await first.corePid(), undefined);

  const second = await openPanel(t, { dataDirectory: first.dataDirectory });
  const { down } = await usageOf(second, 'a');
  t.true(within(down, moved), `${down} of ${moved}`);
  t.is(second.said('a running core was found and taken over'), undefined);
  t.true(await user.served(), 'the new core has the inbound and its user');
});

test('a client that reaches its quota with its last bytes is off after the restart', async (t) => {
  const server = await openServer(t);
  const first = await openPanel(t);
  await first.addClient('a', [await first.addInbound()], { totalGB: 2 * MIB });
  const user = await connect(t, first, 'a', server);
  await user.download(3 * MIB);
  await first.kill('SIGTERM');
  const second = await openPanel(t, { dataDirectory: first.dataDirectory });
  t.false((await usageOf(second, 'a')).enable);
  t.false(await user.served());
});

// SIGTERM stops panel and core; every byte up to the last moment is counted, and its consequences follow.
import test from 'ava';
import { access, readFile } from 'node:fs/promises';
import { Sockets } from '../../plugins/connection-cut/sockets.js';
import { testUnless } from '../harness/left-out.js';
import {
  connect,
  counted,
  MIB,
  openPanel,
  openServer,
  spawnPanel,
  type Teardown,
  usageOf,
  within,
} from './user.js';

/** Far more than flows before the end. */
const ENDLESS = 100_000 * MIB;

// Without the right to close connections, bytes flow on between the last reading and the end of the core.
const testWithCut = testUnless(await new Sockets().obstacle());

async function clientOf(t: Teardown, panel: Awaited<ReturnType<typeof spawnPanel>>, email: string) {
  const server = await openServer(t);
  return { server, user: await connect(t, panel, email, server) };
}

test('SIGTERM stops panel and core; bytes since the last poll are in the database, and a quota that they reach holds', async (t) => {
  const first = await spawnPanel(t);
  const inboundId = await first.addInbound();
  await first.addClient('a', [inboundId]);
  await first.addClient('limited', [inboundId], { totalGB: 2 * MIB });
  const core = await first.corePid();
  for (const pid of [first.pid, core])
    t.regex(await readFile(`/proc/${pid}/status`, 'utf8'), /^Umask:\s+0077$/m, 'their files are private');
  const { user } = await clientOf(t, first, 'a');
  const { user: limited } = await clientOf(t, first, 'limited');
  // A poll may fall between transfer and look; then there are bytes again that no poll has seen.
  let moved = 0;
  do moved += await user.download(4 * MIB);
  while ((await usageOf(first, 'a')).down >= moved);
  await limited.download(3 * MIB);
  t.deepEqual(await first.kill('SIGTERM'), { code: 0, signal: null });
  await t.throwsAsync(access(`/proc/${core}`), { code: 'ENOENT' });

  const second = await openPanel(t, { dataDirectory: first.dataDirectory });
  const { down } = await usageOf(second, 'a');
  t.true(within(down, moved), `${down} of ${moved}`);
  t.is(second.said('adopted a running core'), undefined);
  t.true(await user.served(), 'the new core has the inbound and its user');
  t.true(within(await counted(second, 'limited', 3 * MIB), 3 * MIB));
  t.false((await usageOf(second, 'limited')).enable);
  t.false(await limited.served());
});

testWithCut(
  'bytes that flow at full speed during a stop are counted: all that arrived, and no more than was sent',
  async (t) => {
    const first = await openPanel(t);
    await first.addClient('a', [await first.addInbound()]);
    const server = await openServer(t);
    const user = await connect(t, first, 'a', server);
    const transfers = [user.start(ENDLESS), user.start(ENDLESS)];
    await first.until(() => transfers.every(({ soFar }) => soFar > 16 * MIB), 'bytes flow');
    await first.stop();
    // A program that only reads does not notice that its connection is gone.
    await user.end();
    const received = await Promise.all(transfers.map(({ ended }) => ended));
    const sum = received.reduce((all, bytes) => all + bytes);

    const second = await openPanel(t, { dataDirectory: first.dataDirectory });
    const { down } = await usageOf(second, 'a');
    t.true(down >= sum, `${down} counted, ${sum} received`);
    t.true(down <= server.sent * 1.02, `${down} counted, ${server.sent} sent`);
  },
);

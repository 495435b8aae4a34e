// Vision over REALITY with TLS 1.3 inside, as most of the traffic in the field is. Left to itself, the core hands such a
// download to the operating system and counts it only when the connection ends.
import test from 'ava';
import { openSite } from '../demo/streams.js';
import { freePort } from '../harness/api.js';
import { selfSigned } from '../harness/index.js';
import { connect, counted, engineBinary, MIB, openPanel, openServer, usageOf, within } from './user.js';

const RATE = 2 * MIB;

async function open(t: Parameters<typeof openPanel>[0], fields: Record<string, unknown> = {}) {
  const site = await openSite(engineBinary());
  t.teardown(() => site.stop());
  const server = await openServer(t, { tls: selfSigned() });
  const panel = await openPanel(t, { env: site.env });
  const inboundId = await panel.addInbound({
    port: await freePort(),
    streamSettings: site.streams.get('tcp reality'),
  });
  await panel.addClient('a', [inboundId], { flow: 'xtls-rprx-vision', ...fields });
  return { server, panel, user: await connect(t, panel, 'a', server) };
}

test.serial('vision with TLS inside is counted while it runs, every connection of it', async (t) => {
  const site = await openSite(engineBinary());
  t.teardown(() => site.stop());
  const server = await openServer(t, { tls: selfSigned() });
  const panel = await openPanel(t, { env: site.env });
  const inboundId = await panel.addInbound({
    port: await freePort(),
    streamSettings: site.streams.get('tcp reality'),
  });
  // Whether the core hands a connection over is a race within its first records, so there are several.
  const running = await Promise.all(
    Array.from({ length: 6 }, async (_, i) => {
      const email = `user${i}`;
      await panel.addClient(email, [inboundId], { flow: 'xtls-rprx-vision' });
      const user = await connect(t, panel, email, server);
      const here = { email, soFar: 0, done: false, user, transfer: Promise.resolve(0) };
      here.transfer = user
        .download(40 * MIB, { rate: RATE, onBytes: (now) => (here.soFar = now) })
        .catch(() => 0)
        .finally(() => (here.done = true));
      return here;
    }),
  );
  await panel.until(() => running.every(({ soFar }) => soFar > MIB), 'all of them are under way');
  for (const one of running) {
    await panel.until(
      async () => one.done || (await usageOf(panel, one.email)).down > MIB,
      'it is counted, or over',
    );
    t.false(one.done, `${one.email} is counted while its download runs`);
  }
  await Promise.all(running.map(({ user }) => user.end()));
  await Promise.all(running.map(({ transfer }) => transfer));
});

test.serial(
  'vision with TLS inside is counted across a panel that is killed, all of it and once',
  async (t) => {
    const { server, panel: first, user } = await open(t);
    const bytes = 30 * MIB;
    let soFar = 0;
    const transfer = user.download(bytes, { rate: RATE, onBytes: (now) => (soFar = now) });
    const early = await counted(first, 'a', 2 * MIB);
    t.true(soFar < bytes, 'counted while it runs');
    t.true(early < bytes);
    await first.kill('SIGKILL');
    const atDeath = soFar;
    await first.until(() => soFar > atDeath + RATE, 'the transfer goes on without a panel');
    const second = await openPanel(t, { dataDirectory: first.dataDirectory });
    t.true(soFar < bytes, 'the transfer still runs');
    t.is(await transfer, bytes);
    const total = await counted(second, 'a', bytes);
    t.true(within(total, bytes), `counted ${total} of ${bytes}`);
    t.true(server.tls);
  },
);

test.serial('a quota bites in the middle of such a download', async (t) => {
  const { panel, user } = await open(t, { totalGB: 4 * MIB });
  const transfer = user.download(60 * MIB, { rate: RATE }).catch(() => 0);
  await panel.until(async () => !(await usageOf(panel, 'a')).enable, 'the client is switched off');
  t.true((await usageOf(panel, 'a')).down < 60 * MIB, 'long before the end');
  t.false(await user.served());
  await user.end();
  await transfer;
});

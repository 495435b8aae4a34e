// Vision over REALITY with TLS 1.3 inside, as most of the traffic in the field is. Left to itself, the core hands such a
// download to the operating system and counts it only when the connection ends. Over kill -9: panel-crash.core.test.ts.
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { openSite } from '../demo/streams.js';
import { freePort } from '../harness/api.js';
import { selfSigned } from '../harness/index.js';
import { connect, engineBinary, MIB, openPanel, openServer, poll, usageOf } from './user.js';

const RATE = 2 * MIB;
/** Far more than flows before a poll. */
const ENDLESS = 600 * MIB;
const POLLS = 50;

test('vision with TLS inside is counted while it runs, every connection of it, and a quota stops it', async (t) => {
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
    Array.from({ length: 5 }, async (_, i) => {
      const email = `user${i}`;
      const limit = i === 0 ? { totalGB: 4 * MIB } : {};
      await panel.addClient(email, [inboundId], { flow: 'xtls-rprx-vision', ...limit });
      const user = await connect(t, panel, email, server);
      const one = { email, user, isOver: false };
      void user.start(ENDLESS, RATE).ended.then(() => (one.isOver = true));
      return one;
    }),
  );
  const [limited, ...others] = running;
  const waiting = new Set(others);
  for (let polls = 0; polls < POLLS && waiting.size > 0; polls++) {
    await poll(panel);
    for (const one of waiting) {
      const { down } = await usageOf(panel, one.email);
      t.false(one.isOver, `${one.email}: its download runs`);
      if (down > MIB) waiting.delete(one);
    }
    await sleep(100);
  }
  t.is(waiting.size, 0, 'all are counted while their downloads run');

  await panel.until(async () => {
    await poll(panel);
    return !(await usageOf(panel, 'user0')).enable;
  }, 'the client over its quota is disabled');
  t.true((await usageOf(panel, 'user0')).down < ENDLESS / 10, 'long before the end of its download');
  t.false(await limited?.user.served());
  await Promise.all(running.map(({ user }) => user.end()));
});

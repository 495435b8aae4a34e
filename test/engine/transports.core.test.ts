// Every protocol over every transport: the panel's own links connect, and what moves is counted.
import test from 'ava';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../kernel/index.js';
import { freePort } from '../harness/api.js';
import { openSite } from '../demo/streams.js';
import { connect, engineBinary, engineOf, MIB, openPanel, openServer, usageOf, within } from './user.js';

const PROTOCOLS: Record<string, () => Record<string, unknown>> = {
  vless: () => ({ decryption: 'none' }),
  vmess: () => ({}),
  trojan: () => ({}),
  shadowsocks: () => ({ method: 'chacha20-ietf-poly1305', network: 'tcp,udp' }),
  'shadowsocks 2022': () => ({
    method: '2022-blake3-aes-256-gcm',
    password: randomBytes(32).toString('base64'),
    network: 'tcp,udp',
  }),
};
const AT_ONCE = 4;
/** far beyond what a slow machine takes; a connection that hangs shall name itself */
const PATIENCE_MS = 20_000;

test('every protocol over every transport connects by the link of its subscription and is counted', async (t) => {
  t.timeout(300_000);
  const site = await openSite(engineBinary());
  t.teardown(() => site.stop());
  const server = await openServer(t);
  const panel = await openPanel(t, { env: site.env });
  const ways: { name: string; id: number }[] = [];
  for (const [protocolName, settings] of Object.entries(PROTOCOLS)) {
    for (const [name, streamSettings] of site.streams) {
      // VMess's own links know no REALITY, and Shadowsocks's neither.
      if (name.includes('reality') && !['vless', 'trojan'].includes(protocolName)) continue;
      // To Shadowsocks's programs the HTTP header is another thing, of a plugin.
      if (name === 'tcp http' && protocolName.startsWith('shadowsocks')) continue;
      const id = await panel.addInbound({
        remark: `${protocolName} ${name}`,
        port: await freePort(),
        protocol: protocolName.split(' ')[0],
        settings: settings(),
        streamSettings,
      });
      ways.push({ name: `${protocolName} ${name}`, id });
    }
  }
  await panel.addClient(
    'alice',
    ways.map(({ id }) => id),
  );
  const vision = ways.filter(({ name }) => ['vless tcp tls', 'vless tcp reality'].includes(name));
  await panel.addClient(
    'vision',
    vision.map(({ id }) => id),
    { flow: 'xtls-rprx-vision' },
  );

  const users = [
    ...ways.map((way, position) => ({ ...way, email: 'alice', position })),
    ...vision.map((way, position) => ({ ...way, email: 'vision', position })),
  ];
  const failed: string[] = [];
  const queue = [...users];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const { name, email, position } = next;
        const user = await connect(t, panel, email, server, position);
        const came = await Promise.race([
          user.download(MIB),
          sleep(PATIENCE_MS, 'nothing comes', { ref: false }),
        ]).catch(messageOf);
        if (came !== MIB) failed.push(`${email}: ${name}: ${came}`);
        await user.end();
      }
    }),
  );
  t.deepEqual(failed, []);
  for (const { email, payload } of [
    { email: 'alice', payload: ways.length * MIB },
    { email: 'vision', payload: vision.length * MIB },
  ]) {
    await panel.until(
      async () => (await usageOf(panel, email)).down >= payload,
      `all of ${email} is counted`,
    );
    const { down } = await usageOf(panel, email);
    t.true(within(down, payload), `${email}: ${down} of ${payload}`);
  }
  t.deepEqual(await engineOf(panel), { state: 'running', errorMsg: '', version: '26.3.27' });
});

// Inbounds of every protocol over every transport, and users who connect by the links of their subscription.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { messageOf } from '../../kernel/index.js';
import { openSite } from '../demo/streams.js';
import { freePort } from '../harness/api.js';
import {
  connect,
  counted,
  engineBinary,
  engineOf,
  MIB,
  openPanel,
  openServer,
  type User,
  within,
} from './user.js';

/** `settings` of an inbound, by protocol. */
export const PROTOCOLS: Readonly<Record<string, () => Record<string, unknown>>> = {
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
const VISION = 'xtls-rprx-vision';
const AT_ONCE = 4;
/** Far beyond what a slow machine takes; a connection that hangs is reported by its name. */
const PATIENCE_MS = 20_000;

export interface Way {
  readonly protocol: string;
  readonly stream: string;
}

/** All that have links. VMess's and Shadowsocks's know no REALITY; in Shadowsocks's the HTTP header belongs to a plugin. */
export function allWays(streams: readonly string[]): Way[] {
  return Object.keys(PROTOCOLS).flatMap((protocol) =>
    streams
      .filter((stream) => !stream.includes('reality') || ['vless', 'trojan'].includes(protocol))
      .filter((stream) => stream !== 'tcp http' || !protocol.startsWith('shadowsocks'))
      .map((stream) => ({ protocol, stream })),
  );
}

/** The kinds that `npm run demo` shows, and the streams that it does not: each stream and each protocol at least once. */
const FEW: readonly (readonly [protocol: string, stream: string])[] = [
  ['vless', 'ws'],
  ['vless', 'grpc tls'],
  ['vmess', 'httpupgrade'],
  ['vmess', 'ws tls'],
  ['trojan', 'tcp tls'],
  ['trojan', 'xhttp'],
  ['shadowsocks', 'tcp'],
  ['shadowsocks 2022', 'tcp'],
  ['vless', 'xhttp tls'],
  ['vless', 'xhttp reality'],
  ['vmess', 'grpc'],
  ['vmess', 'tcp http'],
  ['trojan', 'tcp reality'],
  ['trojan', 'grpc reality'],
  ['shadowsocks', 'httpupgrade tls'],
  ['vless', 'kcp'],
  ['vmess', 'kcp masked'],
];

export function fewWays(streams: readonly string[]): Way[] {
  const missing = streams.filter((stream) => !FEW.some(([, known]) => known === stream));
  if (missing.length > 0) throw new Error(`add these streams to FEW: ${missing.join(', ')}`);
  return FEW.map(([protocol, stream]) => ({ protocol, stream }));
}

/** One user downloads over each way, and over TLS and REALITY with Vision; all of it is counted. Then an edit of `flow` reaches the core. */
export async function connectOver(
  t: ExecutionContext,
  choose: (streams: readonly string[]) => readonly Way[],
): Promise<void> {
  const site = await openSite(engineBinary());
  t.teardown(() => site.stop());
  const server = await openServer(t);
  const panel = await openPanel(t, { env: site.env });
  const add = async (protocol: string, stream: string): Promise<{ name: string; id: number }> => ({
    name: `${protocol} ${stream}`,
    id: await panel.addInbound({
      remark: `${protocol} ${stream}`,
      port: await freePort(),
      protocol: protocol.split(' ')[0],
      settings: PROTOCOLS[protocol]?.(),
      streamSettings: site.streams.get(stream),
    }),
  });
  const ways = [];
  for (const { protocol, stream } of choose([...site.streams.keys()])) ways.push(await add(protocol, stream));
  const vision = [];
  for (const stream of ['tcp tls', 'tcp reality']) vision.push(await add('vless', stream));
  const idsOf = (list: readonly { readonly id: number }[]): number[] => list.map(({ id }) => id);
  await panel.addClient('alice', idsOf(ways));
  await panel.addClient('vision', idsOf(vision), { flow: VISION });

  const failed: string[] = [];
  const queue = [
    ...ways.map((way, position) => ({ ...way, email: 'alice', position })),
    ...vision.map((way, position) => ({ ...way, email: 'vision', position })),
  ];
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
  for (const [email, payload] of [
    ['alice', ways.length * MIB],
    ['vision', vision.length * MIB],
  ] as const) {
    const down = await counted(panel, email, payload);
    t.true(within(down, payload), `${email}: ${down} of ${payload}`);
  }
  for (const { id, name } of [...ways, ...vision]) {
    const { down } = await panel.get<{ down: number }>(`/panel/api/inbounds/get/${id}`);
    t.true(within(down, MIB), `${name}: ${down} of ${MIB}`);
  }

  // The core knows a user by name, and the name stays: only the account differs.
  const before: User = await connect(t, panel, 'vision', server);
  await panel.get('/panel/api/clients/update/vision', { body: { flow: '' } });
  t.false(await before.served(), 'with the previous flow');
  t.true(await (await connect(t, panel, 'vision', server)).served(), 'with the new one');
  t.like(await engineOf(panel), {
    state: 'running',
    errorMsg: '',
    version: '26.3.27',
    usersOnTheWay: 0,
  });
}

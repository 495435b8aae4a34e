// Runs client programs.
// Bytes through sing-box, by the document of a subscription, over every way that the core serves and sing-box knows.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import test from 'ava';
import { messageOf } from '../../../kernel/index.js';
import { openSite } from '../../../test/demo/streams.js';
import { counted, engineBinary, MIB, openPanel, openServer, within } from '../../../test/engine/user.js';
import { openPackets } from '../../../test/engine/socks.js';
import { freePort } from '../../../test/harness/api.js';
import { download, ownIPv4 } from '../../engine/xray/test/traffic.js';
import { run } from './program.js';

type Json = Record<string, unknown>;
interface Tagged extends Json {
  readonly type: string;
  readonly tag: string;
}
interface Trusted {
  readonly certificates: readonly { readonly certificate: readonly string[] }[];
}
interface Document extends Json {
  readonly outbounds: readonly Tagged[];
  readonly endpoints: readonly Tagged[];
}

const PROTOCOLS: Readonly<Record<string, () => Json>> = {
  vless: () => ({ decryption: 'none' }),
  vmess: () => ({}),
  trojan: () => ({}),
};
const SHADOWSOCKS = [
  { method: 'chacha20-ietf-poly1305', network: 'tcp,udp' },
  { method: 'aes-128-gcm', network: 'tcp,udp' },
  { method: '2022-blake3-aes-256-gcm', password: randomBytes(32).toString('base64'), network: 'tcp,udp' },
];
const STREAMS = [
  ...['tcp', 'tcp http', 'tcp tls', 'tcp reality', 'ws', 'ws tls', 'httpupgrade', 'httpupgrade tls'],
  ...['grpc', 'grpc tls', 'grpc reality'],
];
/** The core has no name for its peers, so nothing of it is counted. */
const WIREGUARD = 'wireguard';
const PATIENCE_MS = 60_000;
const AT_ONCE = 4;

/** An answer to each packet, on an address that WireGuard reaches. */
async function openEcho(t: {
  teardown(close: () => unknown): void;
}): Promise<{ host: string; port: number }> {
  const socket = createSocket('udp4').bind(0, ownIPv4());
  await once(socket, 'listening');
  socket.on('message', (message, from) => socket.send(message, from.port, from.address));
  t.teardown(() => socket.close());
  const { address, port } = socket.address();
  return { host: address, port };
}
/** HTTP has no packets, and the plugins of Shadowsocks carry none. */
const TCP_ONLY = /^http$|^shadowsocks ws/;
const WORD = 'a word';
async function echoed(socksPort: number, { host, port }: { host: string; port: number }): Promise<string> {
  const packets = await openPackets(socksPort);
  try {
    packets.send(host, port, WORD);
    return await packets.next();
  } finally {
    packets.close();
  }
}

/** sing-box cannot pin a certificate: it trusts the one of the site. */
function unpinned(stream: Json): Json {
  const tls = stream['tlsSettings'] as (Json & { settings: Json }) | undefined;
  return tls ? { ...stream, tlsSettings: { ...tls, settings: { fingerprint: 'chrome' } } } : stream;
}

test('every way that sing-box knows carries bytes, and they are counted', async (t) => {
  t.timeout(600_000);
  const site = await openSite(engineBinary());
  t.teardown(() => site.stop());
  const server = await openServer(t, { host: ownIPv4() });
  const echo = await openEcho(t);
  const panel = await openPanel(t, { env: site.env });
  const streamOf = (name: string): Json => unpinned(site.streams.get(name) as Json);
  const ids = new Map<string, number>();
  const add = async (
    name: string,
    protocol: string,
    settings: Json,
    streamSettings?: Json,
  ): Promise<void> => {
    const inbound = { remark: name, port: await freePort(), protocol, settings, streamSettings };
    ids.set(name, await panel.addInbound(inbound));
  };
  for (const [protocol, settings] of Object.entries(PROTOCOLS))
    for (const stream of STREAMS) await add(`${protocol} ${stream}`, protocol, settings(), streamOf(stream));
  for (const settings of SHADOWSOCKS)
    await add(`shadowsocks ${settings.method}`, 'shadowsocks', settings, streamOf('tcp'));
  for (const stream of ['ws', 'ws tls'])
    await add(`shadowsocks ${stream}`, 'shadowsocks', { ...SHADOWSOCKS[0] }, streamOf(stream));
  await add('http', 'http', {});
  await add('mixed', 'mixed', { auth: 'password', udp: true });
  const hysteria = unpinned(site.hysteria);
  await add('hysteria', 'hysteria', {}, hysteria);
  await add(
    'hysteria salamander',
    'hysteria',
    {},
    {
      ...hysteria,
      finalmask: { udp: [{ type: 'salamander', settings: { password: 'mask' } }] },
    },
  );
  await panel.addClient('alice', [...ids.values()]);
  const vision = ['tcp tls', 'tcp reality'];
  const visionIds = [];
  for (const stream of vision) {
    await add(`vision ${stream}`, 'vless', { decryption: 'none' }, streamOf(stream));
    visionIds.push(ids.get(`vision ${stream}`) as number);
  }
  await add(WIREGUARD, 'wireguard', { mtu: 1400 });
  await panel.addClient('vision', [...visionIds, ids.get(WIREGUARD) as number], {
    flow: 'xtls-rprx-vision',
  });
  await panel.get('/panel/api/setting/update', {
    body: { subSingBoxEnable: true, subSingBoxPath: '/box/', remarkTemplate: '{{INBOUND}}' },
  });

  const { tlsSettings } = site.streams.get('tcp tls') as { tlsSettings: Trusted };
  const trusted = join(panel.dataDirectory, 'trusted.pem');
  await writeFile(trusted, `${tlsSettings.certificates[0]?.certificate.join('\n')}\n`);

  const failed: string[] = [];
  for (const email of ['alice', 'vision']) {
    const { subId } = await panel.get<{ subId: string }>(`/panel/api/clients/get/${email}`);
    const answer = await fetch(
      `http://127.0.0.1:${panel.kernel.listeners.port('subscription')}/box/${subId}`,
      { headers: { 'user-agent': 'SFA/1.14.0 (1; sing-box 1.14.0; language en)' } },
    );
    const document = (await answer.json()) as Document;
    const nodes = [...document.outbounds, ...document.endpoints].filter(
      ({ type }) => !['selector', 'urltest', 'direct'].includes(type),
    );
    // One SOCKS port for each entry, and no group, which would try entries by itself; entries are as they came.
    const ports: number[] = [];
    for (const _ of nodes) ports.push(await freePort());
    await run(
      t,
      JSON.stringify({
        log: { level: 'error' },
        dns: { servers: [{ type: 'local', tag: 'local' }] },
        outbounds: document.outbounds.filter((one) => nodes.includes(one)),
        endpoints: document.endpoints,
        inbounds: nodes.map(({ tag }, i) => ({
          type: 'socks',
          tag,
          listen: '127.0.0.1',
          listen_port: ports[i],
        })),
        route: {
          rules: nodes.map(({ tag }) => ({ inbound: tag, outbound: tag })),
          default_domain_resolver: 'local',
        },
      }),
      { port: ports[0] as number, env: { SSL_CERT_FILE: trusted } },
    );
    const queue = nodes.map(({ tag }, i) => ({ tag, socksPort: ports[i] as number }));
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let next = queue.shift(); next; next = queue.shift()) {
          const came = await Promise.race([
            download({ socksPort: next.socksPort, server, bytes: MIB }),
            sleep(PATIENCE_MS, 'nothing comes', { ref: false }),
          ]).catch(messageOf);
          if (came !== MIB) failed.push(`${next.tag}: ${came}`);
          if (TCP_ONLY.test(next.tag)) continue;
          const word = await echoed(next.socksPort, echo).catch(messageOf);
          if (word !== WORD) failed.push(`${next.tag}, UDP: ${word}`);
        }
      }),
    );
    t.is(nodes.length, email === 'alice' ? ids.size - vision.length - 1 : vision.length + 1);
    // The core does not count peers of WireGuard by client.
    const payload = (nodes.length - (email === 'vision' ? 1 : 0)) * MIB;
    if (failed.length === 0) t.true(within(await counted(panel, email, payload), payload), email);
  }
  t.deepEqual(failed, []);
  const downOf = async (name: string): Promise<number> =>
    (await panel.get<{ down: number }>(`/panel/api/inbounds/get/${ids.get(name)}`)).down;
  for (const name of ids.keys())
    if (name !== WIREGUARD) t.true(within(await downOf(name), MIB), `${name}: ${await downOf(name)}`);
  // An inbound counts what its clients move, so all polls of above have left this one at zero.
  t.is(await downOf(WIREGUARD), 0);
});

// Runs client programs.
// Bytes through mihomo: a panel with its core serves the YAML, mihomo reads it, and what it carries is counted.
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { parse } from 'yaml';
import { messageOf } from '../../../kernel/index.js';
import { openSite } from '../../../test/demo/streams.js';
import { PROTOCOLS } from '../../../test/engine/transports.js';
import {
  counted,
  engineBinary,
  engineOf,
  type EngineView,
  MIB,
  openPanel,
  openServer,
  within,
} from '../../../test/engine/user.js';
import { until } from '../../../test/harness/until.js';
import { freePort } from '../../../test/harness/api.js';
import { download } from '../../engine/xray/test/traffic.js';
import { runMihomo } from './mihomo.js';

const PATIENCE_MS = 30_000;
const AT_ONCE = 3;
const SETTINGS: Readonly<Record<string, () => object>> = {
  ...PROTOCOLS,
  http: () => ({}),
  mixed: () => ({}),
};
/** Of REALITY and XHTTP the document is proved elsewhere: not every build of mihomo can finish its handshake. */
const WAYS: readonly (readonly [protocol: string, streams: readonly string[]])[] = [
  [
    'vless',
    ['tcp', 'tcp tls', 'tcp http', 'ws', 'ws tls', 'httpupgrade', 'httpupgrade tls', 'grpc', 'grpc tls'],
  ],
  [
    'vmess',
    ['tcp', 'tcp tls', 'tcp http', 'ws', 'ws tls', 'httpupgrade', 'httpupgrade tls', 'grpc', 'grpc tls'],
  ],
  ['trojan', ['tcp tls', 'ws tls', 'httpupgrade tls', 'grpc tls']],
  ['shadowsocks', ['tcp', 'ws', 'ws tls', 'httpupgrade', 'httpupgrade tls']],
  ['shadowsocks 2022', ['tcp', 'ws', 'httpupgrade tls']],
  ['http', ['tcp']],
  ['mixed', ['tcp']],
];

interface Certificate {
  readonly certificate: readonly string[];
}
interface File {
  readonly proxies: readonly { readonly name: string }[];
}

test('each way that has words carries bytes, and they are counted', async (t) => {
  const site = await openSite(engineBinary());
  t.teardown(() => site.stop());
  const server = await openServer(t);
  const panel = await openPanel(t, { env: site.env });
  await panel.get('/panel/api/setting/update', {
    body: { subAltEnable: true, altFormatPath: '/alt/', remarkTemplate: '{{INBOUND}}' },
  });
  const add = async (protocol: string, remark: string, streamSettings?: object, settings?: object) =>
    panel.addInbound({
      remark,
      port: await freePort(),
      protocol: protocol.split(' ')[0],
      settings: settings ?? SETTINGS[protocol]?.() ?? {},
      ...(streamSettings && { streamSettings }),
    });
  const ids: number[] = [];
  for (const [protocol, streams] of WAYS)
    for (const stream of streams)
      ids.push(await add(protocol, `${protocol} ${stream}`, site.streams.get(stream)));
  const early = { network: 'ws', wsSettings: { path: '/early?ed=2048', host: '' } };
  ids.push(await add('vless', 'vless ws early', early));
  ids.push(
    await add('vmess', 'vmess grpc path', { network: 'grpc', grpcSettings: { serviceName: '/a/b@b/Tun|d' } }),
  );
  ids.push(
    await add('vless', 'vless grpc blank', { network: 'grpc', grpcSettings: { serviceName: 'a@b/c' } }),
  );
  ids.push(await add('hysteria', 'hysteria', site.hysteria));
  const mask = { finalmask: { udp: [{ type: 'salamander', settings: { password: 'mask' } }] } };
  ids.push(await add('hysteria', 'hysteria masked', { ...site.hysteria, ...mask }));
  await panel.addClient('alice', ids, { subId: 'alice' });
  const vision = await add('vless', 'vision', site.streams.get('tcp tls'));
  await panel.addClient('vic', [vision], { subId: 'vic', flow: 'xtls-rprx-vision' });

  await until(async () => {
    const { state, usersOnTheWay } = (await engineOf(panel)) as EngineView & { usersOnTheWay: number };
    return state === 'running' && usersOnTheWay === 0;
  }, 'the core has all clients');
  const { tlsSettings } = site.streams.get('tcp tls') as { tlsSettings: { certificates: Certificate[] } };
  // Over gRPC older programs do not look at the pin.
  const trusted = (tlsSettings.certificates[0]?.certificate ?? []).join('\n');
  const origin = `http://127.0.0.1:${panel.kernel.listeners.port('subscription')}`;
  const failed: string[] = [];
  for (const [subId, names] of [
    ['alice', ids.length],
    ['vic', 1],
  ] as const) {
    const answer = await fetch(`${origin}/alt/${subId}`);
    t.is(answer.status, 200);
    const text = await answer.text();
    const { proxies } = parse(text) as File;
    t.is(proxies.length, names);
    const { ports, output } = await runMihomo(t, text, { names: proxies.map(({ name }) => name), trusted });
    const queue = [...ports];
    let carried = 0;
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let next = queue.shift(); next; next = queue.shift()) {
          const [name, socksPort] = next;
          const came = await Promise.race([
            download({ socksPort, server, bytes: MIB }),
            sleep(PATIENCE_MS, 'nothing comes', { ref: false }),
          ]).catch(messageOf);
          if (came === MIB) carried += MIB;
          else failed.push(`${name}: ${came}`);
        }
      }),
    );
    t.deepEqual(failed, [], output());
    const down = await counted(panel, subId, carried);
    t.true(within(down, carried), `${down} of ${carried}`);
  }
});

// The documents that our own formats write, read back: every protocol, transport and security, tested by a real core.
import test from 'ava';
import { openSite } from '../../../test/demo/streams.js';
import { PROTOCOLS } from '../../../test/engine/transports.js';
import { engineBinary, openPanel, teardownOfFile } from '../../../test/engine/user.js';
import { freePort } from '../../../test/harness/free-port.js';
import type { JsonObject } from '../../engine/contract.js';
import { openLists } from './list-server.js';

const shared = teardownOfFile(test);
const API = '/panel/api/engine/outbound-subs';
/** What a format has words for. */
const LEAST = { subPath: 70, jsonPath: 70, altFormatPath: 40, subSingBoxPath: 25 } as const;
interface View {
  readonly id: number;
  readonly leftOut: unknown;
  readonly leftOutCount: number;
  readonly outboundCount: number;
}
interface Parts {
  readonly settings?: { readonly [key: string]: unknown };
  readonly streamSettings?: {
    readonly network?: string;
    readonly security?: string;
    readonly wsSettings?: { readonly path?: string };
    readonly grpcSettings?: { readonly serviceName?: string };
    readonly realitySettings?: { readonly publicKey?: string; readonly serverName?: string };
    readonly tlsSettings?: { readonly serverName?: string; readonly pinnedPeerCertSha256?: string };
  };
}
/** What decides whether a connection comes about; fingerprints and headers of browsers differ between formats. */
function summaryOf(outbound: JsonObject): object {
  const { settings = {}, streamSettings: stream = {} } = outbound as Parts;
  const { users: _, ...server } =
    ((settings['vnext'] ?? settings['servers'] ?? [{}]) as Record<string, unknown>[])[0] ?? {};
  return {
    protocol: outbound['protocol'],
    server,
    network: stream.network,
    security: stream.security,
    path: stream.wsSettings?.path,
    service: stream.grpcSettings?.serviceName,
    key: stream.realitySettings?.publicKey,
  };
}
const SETTINGS = '/panel/api/setting';

test('lists in every format of ours become outbounds that the core takes', async (t) => {
  const site = await openSite(engineBinary());
  shared.teardown(() => site.stop());
  const panel = await openPanel(shared, { env: site.env });
  const ids: number[] = [];
  const add = async (remark: string, protocol: string, fields: object): Promise<void> =>
    void ids.push(await panel.addInbound({ remark, protocol, port: await freePort(), ...fields }));
  for (const [protocol, settings] of Object.entries(PROTOCOLS))
    for (const [name, streamSettings] of site.streams) {
      const [core = ''] = protocol.split(' ');
      if (name.includes('reality') && !['vless', 'trojan', 'vmess'].includes(core)) continue;
      await add(`${protocol} ${name}`, core, { settings: settings(), streamSettings });
    }
  for (const protocol of ['http', 'mixed']) await add(protocol, protocol, {});
  const masked = { finalmask: { udp: [{ type: 'salamander', settings: { password: 'mask' } }] } };
  await add('hysteria', 'hysteria', { streamSettings: site.hysteria });
  await add('hysteria masked', 'hysteria', { streamSettings: { ...site.hysteria, ...masked } });
  await add('wireguard', 'wireguard', { settings: { mtu: 1400 } });
  const { subId } = await panel.addClient('all', ids);
  const stored = await panel.get<Record<string, unknown>>(`${SETTINGS}/all`, { method: 'POST' });
  const on = { subJsonEnable: true, subAltEnable: true, subSingBoxEnable: true };
  const known = Object.fromEntries(Object.entries(on).filter(([key]) => key in stored));
  await panel.get(`${SETTINGS}/update`, { body: { ...stored, ...known } });
  const all = await panel.get<Record<string, string>>(`${SETTINGS}/all`, { method: 'POST' });
  const port = panel.kernel.listeners.port('subscription');
  const paths = Object.entries(all).filter(([key]) =>
    /^(?:subPath|jsonPath|altFormatPath|singBoxPath|subSingBoxPath)$/.test(key),
  );
  t.is(paths.length, 4);
  const lists = await openLists(t);
  /** by name: what every format says of it */
  const read = new Map<string, object>();
  for (const [format, path] of paths) {
    const reply = await fetch(`http://127.0.0.1:${port}${path}${subId}`, {
      headers: { 'user-agent': 'test' },
    });
    const body = await reply.text();
    t.is(reply.status, 200, format);
    lists.answer = body;
    const sub = await panel.get<{ id: number }>(API, {
      body: { url: lists.url, allowPrivate: true, tagPrefix: `${format}-` },
    });
    const answer = await panel.call<JsonObject[]>(`${API}/${sub.id}/refresh`, { method: 'POST' });
    t.is(answer.status, 200, `${format}: ${answer.text}`);
    const [view] = (await panel.get<View[]>(API)).filter(({ id }) => id === sub.id);
    t.is(view?.leftOutCount, 0, JSON.stringify(view?.leftOut));
    t.log(format, view?.outboundCount);
    t.true((view?.outboundCount ?? 0) >= LEAST[format as keyof typeof LEAST]);
    for (const outbound of answer.body.obj) {
      const name = String(outbound['tag']).slice(format.length + 1);
      const summary = summaryOf(outbound);
      const known = read.get(name);
      if (known === undefined) read.set(name, summary);
      else t.deepEqual(summary, known, `${name} in ${format}`);
    }
    await panel.get(`${API}/${sub.id}`, { method: 'DELETE' });
  }
});

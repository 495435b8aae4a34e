// The documents of a client: what is in them, one or several, and that settings take effect at once.
import test, { type ExecutionContext } from 'ava';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contribute, definePlugin } from '../../../kernel/index.js';
import { FakeEngine, selfSigned, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import { Renderers, Subscription, type SubscriptionApi } from '../../subscription/contract.js';
import type { DocumentGroup } from '../contract.js';
import { DocumentGroupSources } from '../contract.js';
import { documentsOf, fetched, switchOn } from './client-program.js';

const plugin = (name: string, parts: object) =>
  definePlugin({ name, version: '1.0.0', api: 1, about: 'For a test.', ...parts });

async function boot(t: ExecutionContext, outside: readonly ReturnType<typeof plugin>[] = []) {
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside });
  t.teardown(() => panel[Symbol.asyncDispose]());
  await switchOn(panel);
  return panel;
}
const save = (panel: TestPanel, body: object) => panel.call('/panel/api/setting/update', { body });
const here = { shareAddr: '203.0.113.1', shareAddrStrategy: 'custom' };

test('it is off on a fresh panel, with a random path; its settings take effect at once', async (t) => {
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const { subJsonEnable, jsonPath } = await panel.get<Record<string, string | boolean>>(
    '/panel/api/setting/all',
    { method: 'POST' },
  );
  t.is(subJsonEnable, false);
  t.regex(String(jsonPath), /^\/[a-z0-9]{16}\/$/);
  const { subId } = await panel.addClient('ada', [await panel.addInbound()]);
  const status = async () => (await fetch(`${panel.subscriptionUrl}${jsonPath}${subId}`)).status;
  t.is(await status(), 404);
  await save(panel, { subJsonEnable: true });
  t.is(await status(), 200);
  await save(panel, { jsonPath: '/json/' });
  const file = await fetch(`${panel.subscriptionUrl}/json/${subId}?view=raw`);
  t.is(file.headers.get('content-disposition'), 'attachment; filename="subscription.json"');
  t.is(await status(), 404);
  t.is((await fetched(panel.subscriptionUrl, subId)).status, 200);
  await save(panel, { subJsonPath: '/other/' });
  t.is((await fetch(`${panel.subscriptionUrl}/other/${subId}`)).status, 200, 'by the name of older programs');
});

test('its URL is that of subJsonURI, or follows from subURI; the panel shows that of the links at its start', async (t) => {
  const seen: { subscription?: SubscriptionApi } = {};
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const reader = plugin('reader', {
    uses: { subscription: Subscription },
    start: ({ subscription }: { subscription: SubscriptionApi }) => void (seen.subscription = subscription),
  });
  const options = { plugins: [new FakeEngine().plugin], outside: [reader], dataDirectory };
  const first = await TestPanel.boot(options);
  await switchOn(first);
  const ada = await first.addClient('ada', [await first.addInbound()]);
  const url = () =>
    seen.subscription?.url('json', { ...ada, inboundIds: [] } as never, { named: 'here.example' });
  t.regex(url() ?? '', new RegExp(`^http://here\\.example:\\d+/json/${ada.subId}$`));
  await save(first, { subURI: 'https://sub.example/s/' });
  t.is(url(), `https://sub.example/json/${ada.subId}`);
  await save(first, { subJsonURI: 'https://json.example/j' });
  t.is(url(), `https://json.example/j/${ada.subId}`);
  const { subPath } = await first.get<{ subPath: string }>('/panel/api/setting/all', { method: 'POST' });
  await first.stop();
  const second = await TestPanel.boot(options);
  t.teardown(() => second[Symbol.asyncDispose]());
  const ready = second.log
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .find(({ msg }) => msg === 'ready');
  t.true(String(ready?.['subUrl']).endsWith(subPath), String(ready?.['subUrl']));
});

test('one document is an object, several are a list, none is an empty list', async (t) => {
  const panel = await boot(t);
  const [first, second] = [
    await panel.addInbound({ remark: 'a', ...here }),
    await panel.addInbound({ remark: 'b' }),
  ];
  const ada = await panel.addClient('ada', [first]);
  const both = await panel.addClient('both', [first, second]);
  const read = async (subId: string) =>
    JSON.parse((await fetched(panel.subscriptionUrl, subId)).text) as object;
  const port = (await panel.get<{ port: number }>(`/panel/api/inbounds/get/${first}`)).port;
  t.deepEqual(await read(ada.subId), {
    remarks: 'a',
    log: { loglevel: 'warning' },
    dns: { tag: 'dns_out', queryStrategy: 'UseIP', servers: [{ address: '8.8.8.8', skipFallback: false }] },
    inbounds: [
      {
        tag: 'mixed',
        listen: '127.0.0.1',
        port: 10808,
        protocol: 'mixed',
        settings: { auth: 'noauth', udp: true, userLevel: 8 },
        sniffing: { enabled: true, destOverride: ['http', 'tls', 'quic', 'fakedns'] },
      },
      { tag: 'http', listen: '127.0.0.1', port: 10809, protocol: 'http', settings: { userLevel: 8 } },
    ],
    outbounds: [
      {
        tag: 'proxy',
        protocol: 'vless',
        settings: {
          vnext: [{ address: '203.0.113.1', port, users: [{ level: 8, encryption: 'none', id: ada.uuid }] }],
        },
        streamSettings: { network: 'tcp', security: 'none' },
      },
      { tag: 'direct', protocol: 'freedom', settings: {} },
      { tag: 'block', protocol: 'blackhole', settings: { response: { type: 'http' } } },
    ],
    policy: {
      levels: { 8: { handshake: 4, connIdle: 300, uplinkOnly: 1, downlinkOnly: 1 } },
      system: { statsOutboundUplink: true, statsOutboundDownlink: true },
    },
    routing: { domainStrategy: 'AsIs', rules: [{ type: 'field', network: 'tcp,udp', outboundTag: 'proxy' }] },
    stats: {},
  });
  t.deepEqual(
    (await read(both.subId)) as { remarks: string }[],
    (await documentsOf(panel.subscriptionUrl, both.subId)) as never,
  );
  t.deepEqual(
    (await documentsOf(panel.subscriptionUrl, both.subId)).map(({ remarks }) => remarks),
    ['a', 'b'],
  );
  await save(panel, { subJsonAlwaysArray: true });
  t.true(Array.isArray(await read(ada.subId)));
  await panel.get('/panel/api/clients/update/ada', { body: { enable: false } });
  t.deepEqual(await read(ada.subId), []);
});

test('rules, name servers, masks and multiplexing of the settings are in every document, and a host has the last word', async (t) => {
  const panel = await boot(t);
  const { cert, key } = selfSigned();
  const vision = await panel.addInbound({
    remark: 'vision',
    streamSettings: {
      network: 'tcp',
      security: 'tls',
      tlsSettings: { certificates: [{ certificate: cert.trim().split('\n'), key: key.trim().split('\n') }] },
    },
  });
  const ids = {
    plain: await panel.addInbound({ remark: 'plain' }),
    vision,
    xhttp: await panel.addInbound({
      remark: 'xhttp',
      streamSettings: { network: 'xhttp', xhttpSettings: { path: '/', xmux: { maxConcurrency: '4-8' } } },
    }),
    host: await panel.addInbound({ remark: 'host', protocol: 'trojan' }),
    off: await panel.addInbound({ remark: 'off' }),
  };
  const host = (fields: object) =>
    panel.get('/panel/api/hosts/add', { body: { remark: 'h', hosts: ['h.example'], ...fields } });
  await host({
    inboundIds: [ids.host],
    muxParams: '{"concurrency":3}',
    sockoptParams: '{"tcpFastOpen":true,"domainStrategy":"UseIPv4"}',
    finalMask: '{"tcp":[{"type":"fragment","settings":{"packets":"1-3","length":"5-10"}}]}',
  });
  await host({ inboundIds: [ids.off], muxParams: '{"enabled":false}' });
  const { subId } = await panel.addClient('ada', Object.values(ids), { flow: 'xtls-rprx-vision' });
  const fragment = { type: 'fragment', settings: { packets: 'tlshello', length: '100-200' } };
  const noise = { type: 'noise', settings: { noise: [{ rand: '10-20' }] } };
  const rule = { type: 'field', domain: ['geosite:ir'], outboundTag: 'direct' };
  const answer = await save(panel, {
    subJsonMux: '{"concurrency": 8, "xudpProxyUDP443": "reject"}',
    subJsonFinalMask: JSON.stringify({ tcp: [fragment], udp: [noise] }),
    subJsonRules: JSON.stringify([rule]),
    subJsonDns: '["1.1.1.1"]',
  });
  t.true(answer.body.success, answer.text);
  const documents = await documentsOf(panel.subscriptionUrl, subId);
  const everything = { type: 'field', network: 'tcp,udp', outboundTag: 'proxy' };
  for (const { routing, dns } of documents) {
    t.deepEqual(routing, { domainStrategy: 'AsIs', rules: [rule, everything] });
    t.deepEqual(dns, { tag: 'dns_out', queryStrategy: 'UseIP', servers: ['1.1.1.1'] });
  }
  const proxies = Object.fromEntries(documents.map(({ remarks, outbounds }) => [remarks, outbounds[0]]));
  const masks = (name: string) => proxies[name]?.streamSettings?.finalmask;
  const mux = { concurrency: 8, xudpProxyUDP443: 'reject', enabled: true };
  t.deepEqual([proxies['plain']?.mux, masks('plain')], [mux, { tcp: [fragment], udp: [noise] }]);
  t.deepEqual(proxies['vision']?.mux, { ...mux, concurrency: -1 });
  t.is(proxies['xhttp']?.mux, undefined);
  t.is(proxies['off']?.mux, undefined);
  t.deepEqual(proxies['host']?.mux, { enabled: true, concurrency: 3 });
  const own = { type: 'fragment', settings: { packets: '1-3', length: '5-10' } };
  t.deepEqual(masks('host'), { tcp: [own, fragment], udp: [noise] });
  t.deepEqual(proxies['host']?.streamSettings?.sockopt, { tcpFastOpen: true, domainStrategy: 'UseIPv4' });

  const profile = { DirectIp: ['geoip:ir'], RemoteDNSIP: '9.9.9.9' };
  await save(panel, { subJsonRoutingRules: JSON.stringify(profile), subJsonMux: '', subJsonFinalMask: '' });
  const [changed] = await documentsOf(panel.subscriptionUrl, subId);
  t.deepEqual(changed?.routing, {
    domainStrategy: 'IPIfNonMatch',
    rules: [{ type: 'field', ip: ['geoip:ir'], outboundTag: 'direct' }, everything],
  });
  t.deepEqual(changed?.dns['servers'], ['1.1.1.1'], 'those of the setting go before those of the profile');
  t.is(changed?.outbounds[0]?.mux, undefined);
  t.is(changed?.outbounds[0]?.streamSettings?.finalmask, undefined);
  await save(panel, { subJsonDns: '' });
  const [again] = await documentsOf(panel.subscriptionUrl, subId);
  t.deepEqual(again?.dns['servers'], [{ address: 'https://9.9.9.9/dns-query', skipFallback: false }]);
});

test('a wrong text is refused, with the name of the setting and the place in the JSON', async (t) => {
  const panel = await boot(t);
  const cases: readonly (readonly [name: string, value: string, sentence: RegExp])[] = [
    ['subJsonRules', '[{"port":1,"outboundTag":"x"}]', /subJsonRules: \[0\]\.outboundTag must be one of/],
    ['subJsonMux', '{"concurrency":"x"}', /subJsonMux: concurrency must be a number/],
    ['subJsonFinalMask', '{"tcp":[{}]}', /subJsonFinalMask: tcp\[0\]\.type is required/],
    ['subJsonDns', '{"servers":[1]}', /subJsonDns: servers\[0\] must be/],
    ['subJsonObservatory', '{"interval":"x"}', /subJsonObservatory: interval: it must be a duration/],
    ['subJsonRoutingRules', '{"BlockIp":["x"]}', /subJsonRoutingRules: BlockIp\[0\]: it is no address/],
    ['subJsonRoutingRules', 'happ://routing/onadd/e30x', /subJsonRoutingRules: it is not valid JSON/],
    ['subJsonURI', 'ftp://x', /subJsonURI: it must be an http or https URL/],
    ['jsonPath', 'json', /jsonPath must be: path that begins and ends with a slash/],
  ];
  for (const [name, value, sentence] of cases) {
    const { status, body } = await save(panel, { [name]: value });
    t.is(status, 400, name);
    t.regex(body.msg, sentence);
  }
});

test('what the core cannot do is left out, and says why', async (t) => {
  const seen: { subscription?: SubscriptionApi } = {};
  const panel = await boot(t, [
    plugin('reader', {
      uses: { subscription: Subscription },
      start: ({ subscription }: { subscription: SubscriptionApi }) => void (seen.subscription = subscription),
    }),
  ]);
  const { cert, key } = selfSigned();
  const tls = (settings: object = {}) => ({
    network: 'tcp',
    security: 'tls',
    tlsSettings: {
      certificates: [{ certificate: cert.trim().split('\n'), key: key.trim().split('\n') }],
      settings,
    },
  });
  const tuic = await panel.addInbound({ protocol: 'tuic', streamSettings: tls() }).catch(() => undefined);
  const insecure = await panel.addInbound({ remark: 'i', streamSettings: tls() });
  const pinned = await panel.addInbound({ remark: 'p', streamSettings: tls() });
  const socket = await panel.addInbound({ remark: 's' });
  const host = (inboundIds: number[], fields: object) =>
    panel.get('/panel/api/hosts/add', { body: { remark: 'h', hosts: ['h.example'], inboundIds, ...fields } });
  const pin = Buffer.alloc(32, 7);
  await host([insecure], { allowInsecure: true });
  await host([pinned], { allowInsecure: true, pinnedPeerCertSha256: [pin.toString('base64')] });
  await host([socket], { sockoptParams: '{"domainStrategy":"UseIPv9"}' });
  const { subId } = await panel.addClient('ada', [
    insecure,
    pinned,
    socket,
    ...(tuic === undefined ? [] : [tuic]),
  ]);
  const documents = await documentsOf(panel.subscriptionUrl, subId);
  t.deepEqual(
    documents.map(({ remarks }) => remarks),
    ['p'],
  );
  t.deepEqual(documents[0]?.outbounds[0]?.streamSettings?.['tlsSettings'], {
    pinnedPeerCertSha256: pin.toString('hex'),
  });
  const reasons = (seen.subscription as SubscriptionApi).leftOut().filter(({ format }) => format === 'json');
  t.regex(
    reasons.find(({ inboundId }) => inboundId === insecure)?.reason ?? '',
    /the core refuses allowInsecure/,
  );
  t.regex(
    reasons.find(({ inboundId }) => inboundId === socket)?.reason ?? '',
    /no sockopt\.domainStrategy UseIPv9/,
  );
  if (tuic !== undefined)
    t.is(reasons.find(({ inboundId }) => inboundId === tuic)?.reason, 'the core has no outbound for tuic');
});

test('a renderer of another plugin writes an outbound, and its tag is replaced', async (t) => {
  const panel = await boot(t, [
    plugin('tuic-json', {
      contributes: () => [
        contribute(Renderers, {
          format: 'json',
          protocol: 'mtproto',
          compile:
            () =>
            ({ name }) =>
              JSON.stringify({ protocol: 'pigeon', tag: 'own', settings: { name } }),
        }),
      ],
    }),
  ]);
  const id = await panel.addInbound({
    remark: 'pigeon',
    protocol: 'mtproto',
    settings: { fakeTlsDomain: 'www.example.com' },
  });
  const { subId } = await panel.addClient('ada', [id]);
  const [document] = await documentsOf(panel.subscriptionUrl, subId);
  t.deepEqual(document?.outbounds[0], {
    tag: 'proxy',
    protocol: 'pigeon',
    settings: { name: 'pigeon' },
  } as never);
});

test('documents of several entries stand at their place, and a source that fails is named and answered with 503', async (t) => {
  let groups: readonly DocumentGroup[] | undefined = [];
  const source = servicesOf(
    plugin('groups', {
      contributes: () => [
        contribute(DocumentGroupSources, {
          groups: () => {
            if (!groups) throw new Error('none today');
            return groups;
          },
        }),
      ],
    }),
  );
  const panel = await boot(t, [source.plugin as ReturnType<typeof plugin>]);
  const later = await panel.addInbound({ remark: 'later', subSortIndex: 3 });
  const first = await panel.addInbound({ remark: 'first', subSortIndex: 1 });
  const { subId } = await panel.addClient('ada', [later, first]);
  const names = async () => (await documentsOf(panel.subscriptionUrl, subId)).map(({ remarks }) => remarks);
  const group = (remarks: string, place: number, inboundIds = [later, first]): DocumentGroup => ({
    remarks,
    place,
    inboundIds,
    tagPrefix: `${remarks}-`,
    balancer: () => ({ strategy: { type: 'random' }, measured: false }),
  });
  groups = [group('z', 9), group('a', 1), group('m', 2), group('zero', 0), group('nobody', 1, [999])];
  t.deepEqual(await names(), ['zero', 'first', 'a', 'm', 'later', 'z']);
  groups = [group('only', 3, [later])];
  t.deepEqual(await names(), ['first', 'later', 'only']);
  await panel
    .get(`/panel/api/inbounds/${later}/subSortIndex`, { body: { subSortIndex: 0 } })
    .catch(() => undefined);
  groups = undefined;
  t.is((await fetched(panel.subscriptionUrl, subId)).status, 503);
  t.true(panel.faults.some((fault) => /^groups, groups of JSON documents: none today/.test(fault)));
});

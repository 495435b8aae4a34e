// What fetches show of hosts beyond single fields: order, hidden hosts, names, external proxies, protocols with a way of
// their own; and word to those who have a copy.
import test from 'ava';
import { until } from '../../../test/harness/index.js';
import { completeEntry, type EntryTemplate } from '../../inbounds/contract.js';
import { Listener } from '../../realtime/test/listener.js';
import { type HostFields, hostRecord } from '../fields.js';
import { entryFor } from '../way.js';
import { type Fields, HOSTS, openWorld, type World } from './world.js';

let world: World;
test.before(async () => {
  world = await openWorld(['ws', 'tcp', 'reality']);
});
test.after.always(() => world?.panel[Symbol.asyncDispose]());
test.afterEach.always(async () => {
  const all = await world.panel.get<{ groupId: string }[]>(`${HOSTS}/list`);
  await world.panel.get(`${HOSTS}/bulk/del`, { body: { ids: all.map(({ groupId }) => groupId) } });
});
const idOf = (name: string): number => world.inbounds[name] as number;
const serversOf = (links: readonly string[]) => links.map((link) => new URL(link).hostname);
const namesOf = (links: readonly string[]) =>
  links.map((link) => decodeURIComponent(new URL(link).hash.slice(1)));

test.serial('an inbound with a host is not shown itself where all its hosts are left out', async (t) => {
  await world.add({
    inboundIds: [idOf('tcp')],
    remark: 'a',
    hosts: ['a.example'],
    excludeFromSubTypes: ['raw'],
  });
  t.deepEqual(await world.links('tcp'), []);
  t.deepEqual(
    (await world.entries('tcp')).map(({ server }) => server),
    ['a.example'],
  );
});

test.serial('a hidden host is in the list of the panel only', async (t) => {
  await world.add({ inboundIds: [idOf('tcp')], remark: 'a', hosts: ['a.example'], isHidden: true });
  await world.add({ inboundIds: [idOf('tcp')], remark: 'b', hosts: ['b.example'] });
  t.deepEqual(serversOf(await world.links('tcp')), ['b.example']);
  t.deepEqual(serversOf(await world.panel.get<string[]>('/panel/api/clients/links/tcp')), [
    'a.example',
    'b.example',
  ]);
});

test.serial(
  'shuffled hosts have an order for each client, the same at every fetch, and others keep their place',
  async (t) => {
    const { panel } = world;
    const names = Array.from({ length: 6 }, (_, i) => `s${i}.example`);
    await world.add({ inboundIds: [idOf('tcp')], remark: 'first', hosts: ['first.example'] });
    await world.add({ inboundIds: [idOf('tcp')], remark: 's', hosts: names, shuffleHost: true });
    await world.add({ inboundIds: [idOf('tcp')], remark: 'last', hosts: ['last.example'] });
    const orders = new Set<string>();
    const firsts = new Set<string>();
    for (let i = 0; i < 24; i++) {
      await panel.addClient(`c${i}`, [idOf('tcp')], { subId: `c${i}` });
      const servers = serversOf(await world.links(`c${i}`));
      t.deepEqual(serversOf(await world.links(`c${i}`)), servers);
      t.deepEqual([servers[0], servers.at(-1)], ['first.example', 'last.example']);
      t.deepEqual(servers.slice(1, -1).sort(), names);
      orders.add(servers.join());
      firsts.add(servers[1] ?? '');
    }
    t.true(orders.size > 12, `${orders.size} orders`);
    t.is(firsts.size, 6, 'each comes first for somebody');
  },
);

test.serial('the remark of a host is {{HOST}} in names, and may hold tokens', async (t) => {
  const { panel } = world;
  const template = async (remarkTemplate: string) =>
    panel.get('/panel/api/setting/update', { body: { remarkTemplate } });
  await panel.addClient('nina', [idOf('ws'), idOf('tcp')], { subId: 'nina', comment: 'VIP' });
  await world.add({
    inboundIds: [idOf('ws'), idOf('tcp')],
    remark: '🇩🇪 {{COMMENT}}/{{EMAIL}}|{{TRAFFIC_USED}}',
    hosts: ['a.example'],
  });
  await world.add({ inboundIds: [idOf('ws')], remark: '{{SECURITY}} {{TELEGRAM_ID}}', security: 'none' });
  await world.add({ inboundIds: [idOf('ws')], remark: '{{TELEGRAM_ID}}' });
  const shown = async () => namesOf(await world.links('nina'));
  await template('{{INBOUND}}-{{HOST}}');
  t.deepEqual(await shown(), [
    'ws-🇩🇪 VIP/nina|0.00B',
    'ws-NONE ',
    // All its tokens are empty.
    'ws',
    // What the first link of a subscription says is not said again.
    'tcp-🇩🇪 VIP',
  ]);
  await template('');
  t.is((await shown())[0], 'ws-🇩🇪 VIP/nina|0.00B-nina');
  t.deepEqual(namesOf(await panel.get<string[]>('/panel/api/clients/links/nina'))[3], 'tcp-🇩🇪 VIP/nina-nina');
});

test.serial('an external proxy is read as a host while the inbound has none', async (t) => {
  const { panel } = world;
  const streamSettings = {
    ...(await panel.get<{ streamSettings: object }>(`/panel/api/inbounds/get/${idOf('ws')}`)).streamSettings,
    externalProxy: [
      {
        forceTls: 'same',
        dest: 'cdn.example',
        port: 8443,
        remark: 'CDN',
        sni: 'cdn.sni',
        fingerprint: 'firefox',
        alpn: 'h2,http/1.1',
        pinnedPeerCertSha256: ['ab'.repeat(32)],
        verifyPeerCertByName: 'cert.example',
        echConfigList: 'AEX',
        vlessRoute: '443',
      },
      { forceTls: 'none', dest: '[2001:db8::1]', port: 80, remark: '' },
    ],
  };
  await panel.get(`/panel/api/inbounds/update/${idOf('ws')}`, { body: { streamSettings } });
  const [first = '', second = ''] = await world.links('ws');
  const url = new URL(first);
  t.deepEqual(
    [
      url.host,
      url.username.slice(14, 18),
      decodeURIComponent(url.hash),
      ...['sni', 'fp', 'alpn', 'pcs', 'vcn', 'ech'].map((key) => url.searchParams.get(key)),
    ],
    [
      'cdn.example:8443',
      '01bb',
      '#ws-CDN-ws',
      'cdn.sni',
      'firefox',
      'h2,http/1.1',
      'ab'.repeat(32),
      'cert.example',
      'AEX',
    ],
  );
  const plain = new URL(second);
  t.deepEqual(
    [plain.host, plain.searchParams.get('security'), plain.hash],
    ['[2001:db8::1]:80', 'none', '#ws-ws'],
  );

  const groupId = await world.add({ inboundIds: [idOf('ws')], remark: 'own', hosts: ['own.example'] });
  t.deepEqual(serversOf(await world.links('ws')), ['own.example'], 'only the host');
  await panel.get(`${HOSTS}/setEnable/${groupId}`, { body: { enable: false } });
  t.is((await world.links('ws')).length, 2);
  // It is stored as it was sent.
  const stored = await panel.get<{ streamSettings: Fields }>(`/panel/api/inbounds/get/${idOf('ws')}`);
  t.deepEqual(stored.streamSettings['externalProxy'], streamSettings.externalProxy);
  await panel.get(`/panel/api/inbounds/update/${idOf('ws')}`, {
    body: { streamSettings: { ...streamSettings, externalProxy: undefined } },
  });
});

test.serial('readers of the live stream are told that hosts changed', async (t) => {
  const listener = Listener.plain(world.panel);
  const told = () =>
    listener.of<{ type: string }>('invalidate').filter(({ payload }) => payload.type === 'hosts').length;
  t.teardown(() => listener.close());
  await until(() => listener.of('snapshot').length === 1, 'the reader is connected');
  const groupId = await world.add({ inboundIds: [idOf('tcp')], remark: 'a' });
  await until(() => told() === 1, 'one for the new group');
  await world.panel.get(`${HOSTS}/setEnable/${groupId}`, { body: { enable: false } });
  await until(() => told() === 2, 'one for the edit');
  t.is(told(), 2);
});

test('protocols with a way of their own, such as WireGuard, get address and port', (t) => {
  const entry: EntryTemplate = {
    server: 'base.example',
    port: 51_820,
    account: { protocol: 'wireguard', privateKey: 'k' },
    transport: { kind: 'own' },
    security: { kind: 'none' },
  };
  const host = { groupId: 'g', fields: hostRecord.create({ vlessRoute: '7', path: '/x' }) };
  const client = {
    id: 1,
    email: 'e',
    subId: 's',
    uuid: 'u',
    password: 'p',
    flow: '',
    auth: '',
    security: 'auto',
    adTag: '',
  };
  const shown = (address: string, port: number) =>
    completeEntry(entryFor(entry, { ...host, address, port }), { client, server: 'r', name: 'n' });
  t.deepEqual(shown('wg.example', 443), { ...shown('', 0), server: 'wg.example', port: 443 });
  t.deepEqual(shown('', 0), { ...entry, name: 'n' } as never);
});

test('the SNI follows an address that only the request knows', (t) => {
  const security = { kind: 'tls', serverName: 'base.sni' } as const;
  const entry: EntryTemplate = {
    server: '',
    port: 443,
    account: { protocol: 'trojan', password: 'p' },
    transport: { kind: 'tcp' },
    security,
  };
  const fields = hostRecord.create({ overrideSniFromAddress: true });
  t.deepEqual(entryFor(entry, { groupId: '', fields, address: '', port: 0 }).security, { kind: 'tls' });
});

test('rows of one group share what was read of its texts', (t) => {
  const entry: EntryTemplate = {
    server: 'a.example',
    port: 443,
    account: { protocol: 'trojan', password: 'p' },
    transport: { kind: 'tcp' },
    security: { kind: 'none' },
  };
  const fields = hostRecord.create({
    finalMask: '{"tcp":[{"type":"fragment","settings":{"length":"1-5"}}]}',
    muxParams: '{"concurrency":8}',
  });
  const [one, other] = ['b.example', 'c.example'].map((address) =>
    entryFor(entry, { groupId: '', fields, address, port: 0 }),
  );
  t.truthy(one?.finalMask);
  t.is(one?.finalMask, other?.finalMask, 'reading it takes milliseconds');
  t.is(one?.mux, other?.mux);
});

test('where host and inbound both say something, one of them counts', (t) => {
  const reality = {
    kind: 'reality',
    serverName: 'base.sni',
    shortId: '',
    publicKey: 'k',
    fingerprint: 'chrome',
    spiderX: '/',
  } as const;
  const shown = (
    fields: Partial<HostFields>,
    { security = reality, ...more }: Partial<EntryTemplate> = {},
  ): EntryTemplate => {
    const entry: EntryTemplate = {
      server: 'base.example',
      port: 443,
      account: { protocol: 'trojan', password: 'p' },
      transport: { kind: 'tcp' },
      security,
      ...more,
    };
    return entryFor(entry, { groupId: '', fields: hostRecord.create(fields), address: '', port: 0 });
  };
  // Without the keys of the inbound nothing of REALITY is left.
  t.deepEqual(shown({ security: 'tls', sni: 'own.sni' }).security, { kind: 'tls', serverName: 'own.sni' });
  t.deepEqual(shown({ security: 'reality' }).security, reality);
  t.deepEqual(shown({ security: 'reality' }, { security: { kind: 'none' } }).security, { kind: 'none' });

  const mux = { concurrency: 4 };
  t.deepEqual(shown({}, { mux }).mux, mux);
  t.deepEqual(shown({ muxParams: '{"concurrency":16}' }, { mux }).mux, { concurrency: 16 });
  t.deepEqual(shown({ muxParams: '{"enabled":false}' }, { mux }).mux, {
    concurrency: -1,
    xudpConcurrency: -1,
  });

  const finalMask = '{"quicParams":{"udpHop":{"ports":"3-4"}}}';
  t.deepEqual(shown({ finalMask }).finalMask, { udpHop: { ports: '3-4' } });
  t.deepEqual(shown({ finalMask }, { finalMask: { udpHop: { ports: '1-2' } } }).finalMask, {
    udpHop: { ports: '1-2' },
  });
});

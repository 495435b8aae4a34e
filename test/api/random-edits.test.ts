// Runs on every database.
// Random calls of every endpoint that writes hosts, inbounds and clients, many at once and some of them wrong: then what
// is in memory is what is in the database, each list is that of a freshly started panel, and the core has the wished users.
import test from 'ava';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dropDatabase } from '../harness/database.js';
import { type CallOptions, TestPanel } from '../harness/panel.js';
import { invariants } from '../harness/invariants.js';
import { random } from '../harness/random.js';
import { selfSigned } from '../harness/self-signed.js';
import { CoreInMemory, JumpingClock } from './world-of-edits.js';

const SEED = Number(process.env['WEIR_TEST_SEED'] ?? 11);
const ROUNDS = Number(process.env['WEIR_TEST_ROUNDS'] ?? 60);
const AT_ONCE = 20;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const API = '/panel/api';

type Fields = Record<string, unknown>;
interface Listed {
  readonly id: number;
  readonly email: string;
  readonly subId: string;
  readonly enable: boolean;
  readonly inboundIds: readonly number[];
}

test('after thousands of random calls, memory, database and core agree, and a restart shows the same', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(async () => {
    await dropDatabase(dataDirectory);
    await rm(dataDirectory, { recursive: true, force: true });
  });
  const core = new CoreInMemory();
  const clock = new JumpingClock();
  const checks = invariants();
  const panel = await TestPanel.boot({
    plugins: [core.plugin],
    outside: [checks.plugin],
    clock,
    dataDirectory,
  });
  t.teardown(() => panel.stop());
  await panel.get(`${API}/setting/update`, { body: { subPath: '/s/', subEncrypt: false } });
  // Days pass and sessions end; a token does not.
  const { token } = await panel.get<{ token: string }>(`${API}/setting/apiTokens/create`, {
    body: { name: 'edits' },
  });
  const as = { anonymous: true, headers: { authorization: `Bearer ${token}` } };
  const { below, pick } = random(SEED);
  const chance = (one: number): boolean => below(one) === 0;
  const of = <T>(...list: readonly T[]): T => pick(list) as T;
  const some = <T>(list: readonly T[], one = 3): T[] => list.filter(() => chance(one));

  const { cert, key } = selfSigned();
  const tls = {
    security: 'tls',
    tlsSettings: { certificates: [{ certificate: cert.trim().split('\n'), key: key.trim().split('\n') }] },
  };
  const bytes = (length: number) => Buffer.alloc(length, below(250) + 1).toString('base64');
  /** Settings and stream of an inbound of each protocol. */
  const kinds: Readonly<Record<string, () => Fields>> = {
    vless: () => ({
      settings: { decryption: 'none' },
      streamSettings: of<Fields>({}, { network: 'ws' }, { network: 'tcp', ...tls }, { network: 'grpc' }),
    }),
    vmess: () => ({ streamSettings: of<Fields>({}, { network: 'ws', ...tls }) }),
    trojan: () => ({ streamSettings: { network: 'tcp', ...tls } }),
    shadowsocks: () => ({
      settings: of<Fields>(
        { method: 'aes-256-gcm' },
        { method: '2022-blake3-aes-128-gcm', password: bytes(16) },
        { method: '2022-blake3-aes-256-gcm', password: bytes(32) },
        { method: '2022-blake3-chacha20-poly1305', password: bytes(32) },
      ),
    }),
    wireguard: () => ({ settings: of<Fields>({}, { address: ['10.7.0.1/24'] }) }),
    hysteria: () => ({
      settings: { version: 2 },
      streamSettings: {
        network: 'hysteria',
        security: 'tls',
        tlsSettings: { ...tls.tlsSettings, alpn: ['h3'] },
      },
    }),
    http: () => ({}),
    mixed: () => ({}),
    tunnel: () => ({ settings: { address: '127.0.0.1', port: 53, network: 'tcp' } }),
    mtproto: () => ({}),
    tuic: () => ({}),
    amneziawg: () => ({}),
  };
  const name = () => `${of('c', 'C', 'ü')}${below(20)}`;
  const names = () => Array.from({ length: 1 + below(5) }, name);
  const group = () => of('', 'x', 'X', 'ö z');
  let inbounds: number[] = [];
  let groups: string[] = [];
  let clients: Listed[] = [];
  const anInbound = () => pick(inbounds) ?? 1;
  const inboundIds = () => [...new Set([anInbound(), ...(chance(3) ? [anInbound()] : [])])];
  const aGroup = () => pick(groups) ?? 'nobody';
  /** in the middle of what is good */
  const WRONG = [-1, 2 ** 53, 1.5, 'x\u0000', { a: 1 }, "'; DROP TABLE clients; --", '{"$gt":""}', [], true];
  const spoilt = (fields: Fields): Fields => {
    const at = pick(Object.keys(fields));
    return at !== undefined && chance(12) ? { ...fields, [at]: pick(WRONG) } : fields;
  };
  const usage = () => (chance(40) ? Number.MAX_SAFE_INTEGER : below(3000));
  const fields = (): Fields =>
    spoilt({
      ...(chance(2) && { totalGB: below(3) * 4000 }),
      ...(chance(2) && { expiryTime: of(0, clock.now() + below(4 * DAY) - HOUR, -1 - below(2 * DAY)) }),
      ...(chance(3) && { enable: !chance(4) }),
      ...(chance(3) && { group: group() }),
      ...(chance(3) && { comment: `comment ${below(9)} é` }),
      ...(chance(4) && { reset: below(3), resetDay: 0, resetMax: below(4) }),
      ...(chance(6) && { reset: 0, resetDay: 1 + below(31) }),
      ...(chance(5) && { trafficReset: of('never', 'hourly', 'daily', 'weekly', 'monthly') }),
      ...(chance(5) && { limitIp: below(3), limitHwid: below(3), tgId: below(4) }),
      ...(chance(7) && { subId: `s${below(20)}`, password: `p${below(20)}`, auth: `a${below(20)}` }),
      ...(chance(9) && { uuid: `c0ffee00-0000-4000-8000-0000000000${10 + below(20)}` }),
      ...(chance(9) && { flow: of('', 'xtls-rprx-vision') }),
      ...(chance(9) && { security: of('auto', 'none'), adTag: of('', '0123456789abcdef0123456789abcdef') }),
      ...(chance(9) && { allowedIPs: `10.0.0.${2 + below(9)}`, keepAlive: below(60) }),
      ...(chance(12) && { reverse: of(null, { tag: `r${below(5)}` }) }),
      ...(chance(9) && { externalLinks: links() }),
    });
  const links = () =>
    Array.from({ length: below(3) }, () => ({
      value: `trojan://secret@${of('a', 'b', 'c')}.example.org:443`,
      remark: `r${below(3)}`,
    }));
  const client = (): Fields => ({ email: name(), ...fields() });
  /** in the bodies of inbounds, where some programs call it so */
  const embedded = () =>
    Array.from({ length: below(4) }, () => ({ ...client(), ...(chance(4) && { up: below(99) }) }));
  const inbound = (): Fields => {
    const protocol = pick(Object.keys(kinds)) ?? 'vless';
    const kind = kinds[protocol]?.() ?? {};
    return spoilt({
      protocol,
      listen: '127.0.0.1',
      port: 20_000 + below(400),
      remark: `in ${below(9)} é`,
      ...kind,
      ...(chance(3) && { settings: { ...(kind['settings'] as Fields), clients: embedded() } }),
      ...(chance(4) && { total: below(9) * 1000 }),
      ...(chance(6) && { expiryTime: clock.now() + below(3 * DAY) }),
      ...(chance(4) && { trafficReset: of('never', 'hourly', 'daily'), disableFlow: chance(2) }),
      ...(chance(5) && { enable: chance(2), subSortIndex: 1 + below(5), tag: `t${below(20)}` }),
      ...(chance(6) && { shareAddr: 'share.example', shareAddrStrategy: of('node', 'listen', 'custom') }),
    });
  };
  const hosts = (): Fields =>
    spoilt({
      remark: `host ${below(9)}`,
      inboundIds: inboundIds(),
      ...(chance(2) && { hosts: some(['a.example', 'b.example:1', '2001:db8::1', ':77', '']) }),
      ...(chance(2) && { port: below(3) * 1000, tags: some(['A', 'B']) }),
      ...(chance(3) && { security: of('same', 'none', 'tls'), sni: of('', 'x.example') }),
      ...(chance(4) && { isDisabled: chance(2), isHidden: chance(2), shuffleHost: chance(2) }),
      ...(chance(5) && { muxParams: of(null, '{"concurrency":4}'), vlessRoute: of('', '53') }),
    });

  const outcomes = new Map<string, Map<number, number>>();
  const call = async (path: string, body?: unknown, method = 'POST') => {
    const answer = await panel.call<unknown>(`${API}/${path}`, {
      ...as,
      method,
      ...(body !== undefined && { body }),
    });
    const known = path.replaceAll(/\?.*$|(?<=\/)(?:\d+|[cC]\d+|%C3%BC\d+|[\w-]{16})(?=[/?]|$)/g, '');
    const counted = outcomes.get(known) ?? new Map<number, number>();
    outcomes.set(known, counted.set(answer.status, (counted.get(answer.status) ?? 0) + 1));
    if (answer.status >= 500)
      t.fail(
        `${path} ${JSON.stringify(body)}: ${answer.text}\n${panel.log.filter((line) => line.includes('request failed')).at(-1)}`,
      );
    return answer.body.success ? answer.body.obj : undefined;
  };
  const enc = encodeURIComponent;
  let exported: unknown[] = [];
  let whole: Fields | undefined;
  const calls: readonly (() => Promise<unknown>)[] = [
    () => call('clients/add', { client: client(), inboundIds: inboundIds() }),
    () => call('clients/add', { client: client(), inboundIds: inboundIds() }),
    () =>
      call(
        'clients/bulkCreate',
        names().map(() => ({ client: client(), inboundIds: inboundIds() })),
      ),
    () => call(`clients/update/${enc(name())}`, fields()),
    () => call(`clients/update/${enc(name())}`, { email: name() }),
    () => call(`clients/update/${enc(name())}`, fields()),
    () =>
      call(`clients/update/${enc(name())}`, {
        credentials: [{ inboundId: anInbound(), allowedIPs: ['10.0.0.9'] }],
      }),
    async () => chance(2) && call(`clients/del/${enc(name())}?keepTraffic=${below(2)}`),
    async () => chance(2) && call('clients/bulkDel', { emails: names(), keepTraffic: chance(2) }),
    () => call(`clients/${enc(name())}/attach`, { inboundIds: inboundIds() }),
    () => call(`clients/${enc(name())}/detach`, { inboundIds: inboundIds() }),
    () => call(`clients/${enc(name())}/externalLinks`, { externalLinks: links() }),
    () => call('clients/bulkAttach', { emails: names(), inboundIds: inboundIds() }),
    () => call('clients/bulkDetach', { emails: names(), inboundIds: inboundIds() }),
    () => call('clients/bulkEnable', { emails: names() }),
    () => call('clients/bulkDisable', { emails: names() }),
    () =>
      call('clients/bulkAdjust', {
        emails: names(),
        addDays: below(3) - 1,
        addBytes: below(5000) - 2000,
        ...(chance(3) && { limitHwid: below(3), flow: of('none', 'xtls-rprx-vision', '') }),
      }),
    () => call(`clients/resetTraffic/${enc(name())}`),
    () => call('clients/bulkResetTraffic', { emails: names() }),
    async () => chance(8) && call('clients/resetAllTraffics'),
    async () => chance(12) && call('clients/delDepleted'),
    async () => chance(12) && call('clients/delOrphans'),
    () => call(`clients/updateTraffic/${enc(name())}`, { upload: usage(), download: usage() }),
    () => call('clients/groups/create', { name: group() || 'w' }),
    () => call('clients/groups/rename', { oldName: group() || 'w', newName: group() || 'w' }),
    () => call('clients/groups/delete', { name: group() || 'w' }),
    () => call('clients/groups/resetTraffic', { name: group() || 'w' }),
    () => call('clients/groups/bulkAdd', { emails: names(), group: group() || 'w' }),
    () => call('clients/groups/bulkRemove', { emails: names() }),
    async () =>
      (exported = ((await call('clients/export', undefined, 'GET')) as unknown[] | undefined) ?? []),
    () => call('clients/import', { data: JSON.stringify(some(exported, 2)) }),
    () => call(`clients/ips/${enc(name())}`),
    () => call(`clients/clearIps/${enc(name())}`),
    () =>
      call(
        'server/clientIps',
        names().map((clientEmail) => ({
          clientEmail,
          ips: [{ ip: `198.51.100.${below(9)}`, timestamp: Math.floor(clock.now() / 1000) - below(9) }],
          panelGuid: 'elsewhere',
        })),
      ),
    async () => {
      const devices = (await call(`clients/hwids/${enc(name())}`)) as { id: number }[] | undefined;
      if (devices?.[0]) await call(`clients/hwids/${enc(name())}/${devices[0].id}`, undefined, 'DELETE');
    },
    () => call(`clients/hwids/${enc(name())}`, undefined, 'DELETE'),
    async () => {
      for (const { subId } of some(clients))
        await fetch(`${panel.subscriptionUrl}/s/${subId}`, { headers: { 'x-hwid': `device-${below(4)}` } });
    },
    async () => inbounds.length < 22 && call('inbounds/add', inbound()),
    () => call(`inbounds/update/${anInbound()}`, inbound()),
    () => {
      const { protocol: _, settings: __, streamSettings: ___, ...rest } = inbound();
      return call(`inbounds/update/${anInbound()}`, rest);
    },
    async () => {
      const id = anInbound();
      const now = (await call(`inbounds/get/${id}`, undefined, 'GET')) as Fields | undefined;
      if (now)
        await call(`inbounds/update/${id}`, {
          ...now,
          remark: 'echoed',
          settings: {
            ...(now['settings'] as Fields),
            clients: some((now['settings'] as { clients?: Fields[] }).clients ?? [], 2),
          },
        });
    },
    () => call(`inbounds/setEnable/${anInbound()}`, { enable: !chance(3) }),
    () => call(`inbounds/${anInbound()}/subSortIndex`, { subSortIndex: below(5) }),
    () => call(`inbounds/${anInbound()}/resetTraffic`),
    async () => chance(5) && call('inbounds/resetAllTraffics'),
    async () => chance(9) && call(`inbounds/${anInbound()}/delAllClients`),
    async () => inbounds.length > 6 && chance(3) && call(`inbounds/del/${anInbound()}`),
    async () =>
      inbounds.length > 9 && chance(4) && call('inbounds/bulkDel', { ids: [...some(inbounds, 5), 4711] }),
    async () =>
      (whole =
        ((await call(`inbounds/get/${anInbound()}`, undefined, 'GET')) as Fields | undefined) ?? whole),
    async () =>
      whole &&
      inbounds.length < 22 &&
      call('inbounds/import', { data: JSON.stringify({ ...whole, port: 20_000 + below(400), tag: '' }) }),
    () =>
      call('inbounds/pushClientTraffics', {
        masterGuid: of('g1', 'g2'),
        traffics: names().map((email) => ({ email, up: usage(), down: usage() })),
      }),
    () =>
      call(`inbounds/${anInbound()}/fallbacks`, {
        fallbacks: some([anInbound(), anInbound(), 0]).map((childId, i) =>
          spoilt({
            childId,
            path: `/${i}`,
            dest: childId === 0 ? '8080' : '',
            alpn: of('', 'h2'),
            xver: below(3),
          }),
        ),
      }),
    async () => groups.length < 15 && call(of('hosts/add', 'hosts/bulk/add'), hosts()),
    () => call(`hosts/update/${aGroup()}`, hosts()),
    () => call(`hosts/setEnable/${aGroup()}`, { enable: chance(2) }),
    () => call('hosts/bulk/setEnable', { ids: some(groups), enable: chance(2) }),
    () => call('hosts/reorder', { ids: some([...groups, ...(chance(4) ? ['nobody'] : [])], 2) }),
    async () => chance(4) && call(`hosts/del/${aGroup()}`),
    async () => chance(4) && call('hosts/bulk/del', { ids: some(groups, 6) }),
    async () => {
      for (const { id, inboundIds: ids } of some(clients, 2)) {
        const at = pick(ids);
        if (at !== undefined) core.engine.move(at, id, below(900), below(900));
      }
      clock.tick(5000);
    },
    async () => chance(3) && clock.tick(of(HOUR, DAY, 3 * DAY)),
  ];

  const refresh = async (): Promise<void> => {
    inbounds = (await panel.get<{ id: number }[]>(`${API}/inbounds/list`, as)).map(({ id }) => id);
    groups = (await panel.get<{ groupId: string }[]>(`${API}/hosts/list`, as)).map(({ groupId }) => groupId);
    clients = await panel.get<Listed[]>(`${API}/clients/list`, as);
  };
  const settled = async (): Promise<void> => {
    // What fetches and sightings leave is written some seconds later.
    clock.tick(60_000);
    await panel.kernel.settled();
  };
  const compare = async (when: string): Promise<void> => {
    await settled();
    t.deepEqual(await checks.broken(), [], when);
    // Looks into every client, so the next round finds a text that an edit has left behind.
    await panel.get(`${API}/clients/list/paged?search=nobody`, as);
    await refresh();
    const byName = (users: [string, object][]) =>
      Object.fromEntries(users.sort(([a], [b]) => (a < b ? -1 : 1)));
    t.deepEqual(byName(core.users), byName(core.wished(core.put.keys())), `${when}: users of the core`);
    for (const { id, enable, inboundIds: ids } of clients)
      for (const inboundId of ids)
        if (!enable)
          t.false(
            core.engine.users.has(`i${inboundId}.c${id}`) && core.put.has(inboundId),
            `${when}: ${id} is off`,
          );
  };

  for (let i = 0; i < 8; i++) await call('inbounds/add', inbound());
  for (let round = 0; round < ROUNDS; round++) {
    if (round % 4 === 0) await refresh();
    await Promise.all(Array.from({ length: AT_ONCE }, () => pick(calls)?.()));
    if (round % 10 === 0) await compare(`round ${round}`);
  }
  await compare('at the end');
  t.deepEqual(panel.faults, []);
  t.log(
    [...outcomes]
      .map(
        ([path, counted]) =>
          `${path}: ${[...counted].map(([status, count]) => `${count} × ${status}`).join(', ')}`,
      )
      .join('\n'),
  );
  t.log(
    `${inbounds.length} inbounds, ${groups.length} host groups, ${clients.length} clients, ${core.users.length} users`,
  );

  const before = await shownBy(panel, as, clock.now());
  t.true(clients.length > 5 && inbounds.length > 3);
  const users = core.users;
  await panel.stop();
  const next = new CoreInMemory();
  const restarted = await TestPanel.boot({ plugins: [next.plugin], clock, dataDirectory });
  t.teardown(() => restarted.stop());
  const after = await shownBy(restarted, as, clock.now());
  for (const [path, shown] of Object.entries(before)) t.deepEqual(after[path], shown, path);
  await next.reconcile();
  t.deepEqual(Object.fromEntries(next.users), Object.fromEntries(users));
  t.deepEqual([...next.put].sort(), [...core.put].sort(), 'the config of the core');
});

const SORTS = [
  '',
  'enable',
  'email',
  'inboundIds',
  'traffic',
  'remaining',
  'expiryTime',
  'createdAt',
  'updatedAt',
  'lastOnline',
];
const FILTERS = [
  ...['active', 'deactive', 'depleted', 'expiring'].map((status) => `status=${status}`),
  ...['vless', 'shadowsocks', 'wireguard', 'http', 'mtproto'].map((protocol) => `protocol=${protocol}`),
  ...['on', 'off'].map((value) => `autoRenew=${value}`),
  ...['yes', 'no'].flatMap((value) => [`hasTgId=${value}`, `hasComment=${value}`]),
  ...['c1', 'ü', 'comment 3', 's1', 'nothing'].map((search) => `search=${encodeURIComponent(search)}`),
  ...['x', 'X', 'ö z', 'x,ö z'].map((group) => `group=${encodeURIComponent(group)}`),
  'usageFrom=1',
  'usageTo=3000',
  'expiryFrom=1',
  `expiryTo=${Date.UTC(2026, 6)}`,
  'inboundIds=1,2,3',
];

/** Everything that reading endpoints answer, by path. */
async function shownBy(
  panel: TestPanel,
  as: CallOptions,
  now: number,
): Promise<Readonly<Record<string, unknown>>> {
  const shown: Record<string, unknown> = {};
  const read = async <T>(path: string, method = 'GET'): Promise<T> =>
    (shown[path] = await panel.get<T>(`${API}/${path}`, { ...as, method })) as T;
  const inbounds = await read<{ id: number }[]>('inbounds/list');
  for (const path of ['inbounds/list/slim', 'inbounds/options', 'inbounds/allLinks']) await read(path);
  for (const { id } of inbounds)
    for (const path of [`inbounds/get/${id}`, `inbounds/${id}/fallbacks`, `hosts/byInbound/${id}`])
      await read(path);
  const groups = await read<{ groupId: string }[]>('hosts/list');
  for (const { groupId } of groups) await read(`hosts/get/${groupId}`);
  await read('hosts/tags');
  const clients = await read<Listed[]>('clients/list');
  for (const { email, subId } of clients) {
    for (const path of ['get', 'traffic', 'links'])
      await read(`clients/${path}/${encodeURIComponent(email)}`);
    await read(`clients/subLinks/${encodeURIComponent(subId)}`);
    for (const path of ['ips', 'hwids']) await read(`clients/${path}/${encodeURIComponent(email)}`, 'POST');
  }
  for (const path of ['clients/export', 'server/clientIps', `x/traffic/preview?until=${now + 30 * DAY}`])
    await read(path);
  for (const path of ['clientIpsByGuid', 'lastOnline', 'activeInbounds'])
    await read(`clients/${path}`, 'POST');
  for (const { name } of await read<{ name: string }[]>('clients/groups'))
    await read(`clients/groups/${encodeURIComponent(name)}/emails`);
  for (const sort of SORTS)
    for (const order of ['ascend', 'descend'])
      await read(`clients/list/paged?pageSize=200&sort=${sort}&order=${order}`);
  for (const filter of FILTERS) await read(`clients/list/paged?pageSize=7&${filter}`);
  return shown;
}

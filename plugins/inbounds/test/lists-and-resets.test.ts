import test from 'ava';
import { FakeClock, FakeEngine, refused, TestPanel, until } from '../../../test/harness/index.js';

interface Inbound {
  readonly id: number;
  readonly up: number;
  readonly down: number;
  readonly tag: string;
  readonly subSortIndex: number;
  readonly lastTrafficResetTime: number;
  readonly settings: Record<string, unknown> | null;
  readonly clientStats: readonly { readonly email: string }[];
}
const API = '/panel/api/inbounds';
const boot = (engine: FakeEngine, clock = new FakeClock()): Promise<TestPanel> =>
  TestPanel.boot({ plugins: [engine.plugin], clock });
const post = <T = null>(panel: TestPanel, path: string, body?: object): Promise<T> =>
  panel.get<T>(`${API}/${path}`, { method: 'POST', ...(body && { body }) });
const get = (panel: TestPanel, id: number): Promise<Inbound> => panel.get(`${API}/get/${id}`);

test('options have every described field and no secret', async (t) => {
  await using panel = await boot(new FakeEngine());
  t.deepEqual(await panel.get(`${API}/options`), []);
  const plain = await panel.addInbound({ remark: 'plain', tag: 'plain-tag' });
  const ss = await panel.addInbound({
    protocol: 'shadowsocks',
    settings: { method: '2022-blake3-aes-128-gcm', password: 'MDEyMzQ1Njc4OWFiY2RlZg==' },
    enable: false,
  });
  const vision = await panel.addInbound({
    streamSettings: { network: 'xhttp' },
    settings: {
      decryption: 'mlkem768x25519plus.native.600s.x',
      encryption: 'mlkem768x25519plus.native.0rtt.y',
    },
  });
  const options = await panel.get<Record<string, unknown>[]>(`${API}/options`);
  const fields = [
    'awgServer',
    'enable',
    'id',
    'listen',
    'mtprotoDomain',
    'network',
    'nodeAddress',
    'nodeId',
    'port',
    'protocol',
    'remark',
    'security',
    'shareAddr',
    'shareAddrStrategy',
    'ssMethod',
    'tag',
    'tlsFlowCapable',
    'tuicServer',
    'wgDns',
    'wgMtu',
    'wgPublicKey',
  ];
  for (const option of options) t.deepEqual(Object.keys(option).sort(), fields);
  t.like(options[0], {
    id: plain,
    remark: 'plain',
    tag: 'plain-tag',
    protocol: 'vless',
    enable: true,
    listen: '127.0.0.1',
    network: 'tcp',
    security: 'none',
    tlsFlowCapable: false,
    ssMethod: '',
  });
  t.like(options[1], {
    id: ss,
    enable: false,
    protocol: 'shadowsocks',
    ssMethod: '2022-blake3-aes-128-gcm',
    tlsFlowCapable: false,
  });
  t.like(options[2], { id: vision, network: 'xhttp', tlsFlowCapable: true });
  t.false(JSON.stringify(options).includes('MDEyMzQ1'));
  await panel.get(`${API}/update/${vision}`, { body: { disableFlow: true } });
  t.false((await panel.get<{ tlsFlowCapable: boolean }[]>(`${API}/options`))[2]?.tlsFlowCapable);
});

test('list/slim has settings, and no credentials of clients', async (t) => {
  await using panel = await boot(new FakeEngine());
  const id = await panel.addInbound();
  const { uuid, password } = await panel.addClient('a', [id], { comment: 'c', enable: false });
  const [slim] = await panel.get<Inbound[]>(`${API}/list/slim`);
  t.deepEqual(slim?.settings, { decryption: 'none', clients: [{ email: 'a', enable: false, comment: 'c' }] });
  t.deepEqual(
    slim?.clientStats.map(({ email }) => email),
    ['a'],
  );
  t.false(JSON.stringify(slim?.settings).includes(uuid) || JSON.stringify(slim).includes(password));
});

test('with stats=0, replies have no clientStats, and else the same', async (t) => {
  await using panel = await boot(new FakeEngine());
  const id = await panel.addInbound();
  await panel.addClient('a', [id]);
  const rows = async (path: string) => [await panel.get<Inbound | Inbound[]>(`${API}/${path}`)].flat();
  for (const path of ['list', 'list/slim', `get/${id}`]) {
    const full = await rows(path);
    t.deepEqual(
      full.map(({ clientStats }) => clientStats.length),
      [1],
    );
    const without = full.map((row) => ({ ...row, clientStats: [] }));
    t.deepEqual(await rows(`${path}?stats=0`), without);
    t.deepEqual(await rows(`${path}?stats=false`), without);
    t.deepEqual(await rows(`${path}?stats=1`), full);
  }
});

test('bulkDel deletes known inbounds, lists unknown ids, and leaves the clients', async (t) => {
  const engine = new FakeEngine();
  await using panel = await boot(engine);
  const ids = [await panel.addInbound(), await panel.addInbound(), await panel.addInbound()] as [
    number,
    number,
    number,
  ];
  await panel.addClient('a', ids);
  t.deepEqual(await post(panel, 'bulkDel', { ids: [ids[0], 999, ids[2], ids[0]] }), {
    deleted: 2,
    skipped: [{ id: 999, reason: 'there is no inbound with this id', code: 'INBOUNDS_NOT_FOUND' }],
  } as unknown as null);
  t.deepEqual(
    (await panel.get<Inbound[]>(`${API}/list`)).map(({ id }) => id),
    [ids[1]],
  );
  t.is(engine.inbounds.length, 1);
  t.deepEqual((await panel.get<{ inboundIds: number[] }>('/panel/api/clients/get/a')).inboundIds, [ids[1]]);
  t.deepEqual(await post(panel, 'bulkDel', { ids: [] }), { deleted: 0, skipped: [] } as unknown as null);
  for (const wrong of [undefined, 5, {}])
    await refused(
      t,
      panel,
      `${API}/bulkDel`,
      { body: { ids: wrong } },
      { status: 400, code: 'KERNEL_INVALID', field: 'ids' },
    );
  for (const wrong of ['1', 1.5, null])
    await refused(
      t,
      panel,
      `${API}/bulkDel`,
      { body: { ids: [wrong] } },
      { status: 400, code: 'KERNEL_INVALID', field: 'ids.0' },
    );
});

test('subSortIndex moves an inbound in subscriptions and touches nothing else', async (t) => {
  await using panel = await boot(new FakeEngine());
  const [one, two] = [await panel.addInbound({ remark: 'one' }), await panel.addInbound({ remark: 'two' })];
  await panel.addClient('a', [one, two]);
  const before = await get(panel, one);
  await post(panel, `${one}/subSortIndex`, { subSortIndex: 5 });
  const { version, ...after } = (await get(panel, one)) as Inbound & { readonly version: string };
  t.deepEqual({ ...after, version }, { ...before, subSortIndex: 5, version });
  const links = await panel.get<string[]>('/panel/api/clients/links/a');
  t.deepEqual(
    links.map((link) => /#(\w+)/.exec(link)?.[1]?.slice(0, 3)),
    ['two', 'one'],
  );
  for (const wrong of [0, -1, 1.5, '2', null, undefined])
    await refused(
      t,
      panel,
      `${API}/${one}/subSortIndex`,
      { body: { subSortIndex: wrong } },
      { status: 400, code: 'KERNEL_INVALID', field: 'subSortIndex' },
    );
  t.regex(
    (await panel.call(`${API}/${one}/subSortIndex`, { body: { subSortIndex: 0 } })).body.msg,
    /must be greater than or equal to 1/,
  );
  await refused(
    t,
    panel,
    `${API}/999/subSortIndex`,
    { body: { subSortIndex: 1 } },
    { status: 404, code: 'INBOUNDS_NOT_FOUND', field: 'id' },
  );
});

test('a reset sets the counters of inbounds to zero, and leaves those of clients', async (t) => {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  await using panel = await boot(engine, clock);
  const [one, two] = [await panel.addInbound(), await panel.addInbound()];
  await panel.addClient('a', [one, two]);
  const move = async (total: number): Promise<void> => {
    engine.move(one, 1, 10, 20);
    engine.move(two, 1, 1, 2);
    await until(async () => {
      // A tick during a poll starts no other poll.
      clock.tick(5000);
      return (await panel.get<{ up: number }>('/panel/api/clients/traffic/a')).up === total;
    }, `${total} bytes up are counted`);
  };
  await move(11);
  await post(panel, `${one}/resetTraffic`);
  t.like(await get(panel, one), { up: 0, down: 0, lastTrafficResetTime: 0 });
  t.like(await get(panel, two), { up: 1, down: 2 });
  await move(22);
  t.like(await get(panel, one), { up: 10, down: 20 });
  await post(panel, 'resetAllTraffics');
  for (const id of [one, two])
    t.like(await get(panel, id), { up: 0, down: 0, lastTrafficResetTime: clock.now() });
  t.like(await panel.get('/panel/api/clients/traffic/a'), { up: 22, down: 44 });
  await refused(
    t,
    panel,
    `${API}/999/resetTraffic`,
    { method: 'POST' },
    { status: 404, code: 'INBOUNDS_NOT_FOUND', field: 'id' },
  );
});

test('subLinks and allLinks', async (t) => {
  await using panel = await boot(new FakeEngine());
  const [one, two] = [
    await panel.addInbound({ remark: 'one' }),
    await panel.addInbound({ remark: 'two', enable: false }),
  ];
  const a = await panel.addClient('a', [one, two]);
  await panel.addClient('b', [one], { enable: false });
  const links = await panel.get<string[]>('/panel/api/clients/links/a');
  t.is(links.length, 1, 'of an inbound that is off there is no link');
  t.deepEqual(await panel.get(`/panel/api/clients/subLinks/${a.subId}`), links);
  t.deepEqual(await panel.get('/panel/api/clients/subLinks/nobody'), []);
  t.deepEqual(await panel.get(`${API}/allLinks`), [
    ...links,
    ...(await panel.get<string[]>('/panel/api/clients/links/b')),
  ]);
  const { headers } = await panel.call(`${API}/allLinks`);
  t.is(headers.get('transfer-encoding'), 'chunked', 'written while it is sent');
});

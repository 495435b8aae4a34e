import test from 'ava';
import { FakeClock, FakeEngine, refused, TestPanel, until } from '../../../test/harness/index.js';

interface Client {
  readonly id: number;
  readonly email: string;
  readonly enable: boolean;
  readonly inboundIds: number[];
  readonly expiryTime: number;
  readonly totalGB: number;
  readonly flow: string;
  readonly limitHwid: number;
  readonly traffic: { readonly up: number; readonly down: number; readonly lastOnline: number };
  readonly [field: string]: unknown;
}
interface Skipped {
  readonly skipped: readonly { readonly email: string; readonly reason: string; readonly code: string }[];
}
const API = '/panel/api/clients';
const DAY = 86_400_000;
const get = (panel: TestPanel, email: string): Promise<Client> =>
  panel.get(`${API}/get/${encodeURIComponent(email)}`);
const post = <T = null>(panel: TestPanel, path: string, body?: object): Promise<T> =>
  panel.get<T>(`${API}/${path}`, { method: 'POST', ...(body && { body }) });

async function boot(inbounds = 2) {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const panel = await TestPanel.boot({ plugins: [engine.plugin], clock });
  const ids: number[] = [];
  for (let i = 0; i < inbounds; i++) ids.push(await panel.addInbound());
  const poll = async (email: string, bytes: number): Promise<void> => {
    await until(async () => {
      // A tick that meets a poll at work starts none.
      clock.tick(5000);
      const { traffic } = await get(panel, email);
      return traffic.up + traffic.down === bytes;
    }, `the poll counts ${bytes} bytes of ${email}`);
  };
  return {
    engine,
    clock,
    panel,
    ids: ids as [number, number],
    poll,
    [Symbol.asyncDispose]: () => panel[Symbol.asyncDispose](),
  };
}
/** What a panel has that starts on the same data. */
const attachments = async (panel: TestPanel): Promise<Record<string, number[]>> =>
  Object.fromEntries(
    (await panel.get<Client[]>(`${API}/list`)).map(({ email, inboundIds }) => [email, inboundIds]),
  );

test('list returns all clients with all fields, by id', async (t) => {
  await using world = await boot();
  const { panel, ids } = world;
  t.deepEqual(await panel.get(`${API}/list`), []);
  await panel.addClient('z', ids);
  await panel.addClient('a', [ids[0]]);
  const all = await panel.get<Client[]>(`${API}/list`);
  t.deepEqual(
    all.map(({ email }) => email),
    ['z', 'a'],
  );
  const { externalLinks: _, ...single } = await get(panel, 'z');
  t.deepEqual(all[0], single as unknown as Client);
  t.deepEqual((await panel.get<{ items: Client[] }>(`${API}/list/paged`)).items, all);
});

test('get/tgId finds the newest with that id and names the others', async (t) => {
  await using world = await boot();
  const { panel, ids, clock } = world;
  for (const [email, tgId] of [
    ['old', 5],
    ['new', 5],
    ['other', 6],
  ] as const) {
    await panel.addClient(email, ids, { tgId });
    clock.tick(10);
  }
  const found = await panel.get<Client>(`${API}/get/tgId/5`);
  t.like(found, { email: 'new', tgId: 5, sameTgId: ['old'], externalLinks: [] });
  t.deepEqual((await panel.get<Client>(`${API}/get/tgId/6`))['sameTgId'], []);
  await refused(t, panel, `${API}/get/tgId/7`, {}, { status: 404, code: 'CLIENTS_NOT_FOUND', field: 'tgId' });
  for (const wrong of ['0', '-1', 'x', '1.5'])
    await refused(
      t,
      panel,
      `${API}/get/tgId/${wrong}`,
      {},
      { status: 400, code: 'KERNEL_INVALID', field: 'tgId' },
    );
});

test('attach and detach change only the sent clients, also in the core, and can be repeated', async (t) => {
  await using world = await boot(3);
  const { panel, engine, ids } = world;
  const [one, two, three] = ids as unknown as [number, number, number];
  const { id } = await panel.addClient('a', [one]);
  await panel.addClient('b', [one]);
  engine.told.length = 0;
  await post(panel, 'a/attach', { inboundIds: [three, two, three, one] });
  t.deepEqual((await get(panel, 'a')).inboundIds, [one, two, three]);
  t.deepEqual(engine.told, [
    [
      { inboundId: three, clientId: id },
      { inboundId: two, clientId: id },
    ],
  ]);
  t.true(engine.users.has(`i${two}.c${id}`) && engine.users.has(`i${three}.c${id}`));
  await post(panel, 'a/attach', { inboundIds: [two] });
  await post(panel, 'a/detach', { inboundIds: [one, three, 999] });
  t.deepEqual((await get(panel, 'a')).inboundIds, [two]);
  t.deepEqual([...engine.users.keys()].sort(), [`i${one}.c2`, `i${two}.c${id}`]);
  await post(panel, 'a/detach', { inboundIds: [one] });
  await post(panel, 'a/detach', { inboundIds: [two] });
  t.deepEqual(await attachments(panel), { a: [], b: [one] }, 'a client may be attached to nothing');
  await post(panel, 'a/attach', { inboundIds: [] });
  t.is(engine.told.length, 3, 'what changes nothing tells the core nothing');
});

test('attach and detach refuse unknown clients, unknown inbounds and bad lists', async (t) => {
  await using world = await boot();
  const { panel, ids } = world;
  await panel.addClient('a', [ids[0]]);
  for (const what of ['attach', 'detach']) {
    await refused(
      t,
      panel,
      `${API}/nobody/${what}`,
      { body: { inboundIds: ids } },
      { status: 404, code: 'CLIENTS_NOT_FOUND', field: 'email' },
    );
    for (const inboundIds of [undefined, 5, ['1'], [0], [1.5], [null]])
      await refused(
        t,
        panel,
        `${API}/a/${what}`,
        { body: { inboundIds } },
        {
          status: 400,
          code: 'KERNEL_INVALID',
          field: Array.isArray(inboundIds) ? 'inboundIds.0' : 'inboundIds',
        },
      );
  }
  await refused(
    t,
    panel,
    `${API}/a/attach`,
    { body: { inboundIds: [ids[1], 999] } },
    { status: 404, code: 'INBOUNDS_NOT_FOUND', field: 'inboundIds' },
  );
});

test('attaches a disabled client without the core', async (t) => {
  await using world = await boot();
  const { panel, engine, ids } = world;
  await panel.addClient('a', [ids[0]], { enable: false });
  await post(panel, 'a/attach', { inboundIds: [ids[1]] });
  t.is(engine.users.size, 0);
  t.deepEqual((await get(panel, 'a')).inboundIds, ids);
  await post(panel, 'bulkEnable', { emails: ['a'] });
  t.is(engine.users.size, 2);
});

test('after del with keepTraffic, a new client with that email continues its usage; otherwise it starts from zero', async (t) => {
  await using world = await boot();
  const { panel, engine, ids, poll } = world;
  for (const email of ['Kept', 'gone', 'many']) await panel.addClient(email, ids);
  for (const client of [1, 2, 3]) {
    engine.move(ids[0], client, 10, 20);
    engine.move(ids[1], client, 1, 2);
  }
  await poll('many', 33);
  const { lastOnline } = (await get(panel, 'Kept')).traffic;
  await post(panel, 'del/Kept?keepTraffic=1');
  await post(panel, 'del/gone?keepTraffic=0');
  await post(panel, 'bulkDel', { emails: ['many'], keepTraffic: true });
  t.deepEqual(await panel.get(`${API}/list`), []);
  await panel.addClient('kept', [ids[0]]);
  await panel.addClient('gone', [ids[0]]);
  await panel.addClient('many', [ids[0]], { totalGB: 33 });
  t.like((await get(panel, 'kept')).traffic, { up: 11, down: 22, lastOnline });
  t.like((await get(panel, 'gone')).traffic, { up: 0, down: 0 });
  t.like(
    await get(panel, 'many'),
    { enable: false, traffic: { up: 11, down: 22 } },
    'it comes back at its quota',
  );
  t.deepEqual([...engine.users.keys()], [`i${ids[0]}.c4`, `i${ids[0]}.c5`]);
  // Given back once: the next one without keepTraffic ends it.
  await post(panel, 'del/kept');
  await panel.addClient('kept', [ids[0]]);
  t.like((await get(panel, 'kept')).traffic, { up: 0, down: 0 });
});

test('stores retained traffic in the database', async (t) => {
  await using world = await boot();
  const { panel, engine, ids, poll } = world;
  await panel.addClient('a', ids);
  engine.move(ids[0], 1, 100, 0);
  await poll('a', 100);
  await post(panel, 'del/a?keepTraffic=true');
  await panel.addClient('a', [ids[0]]);
  engine.move(ids[0], 2, 7, 0);
  await poll('a', 107);
  await post(panel, 'del/a?keepTraffic=1');
  await panel.addClient('a', [ids[0]]);
  t.like((await get(panel, 'a')).traffic, { up: 107, down: 0 });
});

test('del rejects invalid keepTraffic and unknown clients', async (t) => {
  await using world = await boot();
  const { panel, ids } = world;
  await panel.addClient('a', ids);
  await refused(
    t,
    panel,
    `${API}/del/a?keepTraffic=perhaps`,
    { method: 'POST' },
    { status: 400, code: 'KERNEL_INVALID', field: 'keepTraffic' },
  );
  await refused(
    t,
    panel,
    `${API}/del/b?keepTraffic=1`,
    { method: 'POST' },
    { status: 404, code: 'CLIENTS_NOT_FOUND', field: 'email' },
  );
});

test('resetTraffic zeroes the usage and enables the client; updateTraffic sets it; both apply limits', async (t) => {
  await using world = await boot();
  const { panel, engine, ids, poll, clock } = world;
  await panel.addClient('quota', ids, { totalGB: 100 });
  await panel.addClient('late', [ids[0]], { expiryTime: clock.now() + 1, totalGB: 5 });
  await panel.addClient('off', [ids[0]], { enable: false });
  engine.move(ids[0], 1, 60, 50);
  await poll('quota', 110);
  await until(
    async () => !(await get(panel, 'quota')).enable && !(await get(panel, 'late')).enable,
    'the limits hold',
  );
  await post(panel, 'resetTraffic/QUOTA');
  t.like(await get(panel, 'quota'), { enable: true, traffic: { up: 0, down: 0 } });
  t.is([...engine.users.keys()].filter((name) => name.endsWith('.c1')).length, 2);
  await post(panel, 'resetTraffic/late');
  t.false((await get(panel, 'late')).enable, 'its time is over all the same');
  await post(panel, 'resetTraffic/off');
  t.true((await get(panel, 'off')).enable);
  engine.move(ids[0], 1, 5, 0);
  await poll('quota', 5);
  await post(panel, 'updateTraffic/quota', { upload: 30, download: 40 });
  t.like(await get(panel, 'quota'), { enable: true, traffic: { up: 30, down: 40 } });
  await post(panel, 'updateTraffic/quota', { upload: 60, download: 40 });
  t.like(await get(panel, 'quota'), { enable: false, traffic: { up: 60, down: 40 } });
  t.is([...engine.users.keys()].filter((name) => name.endsWith('.c1')).length, 0);
  for (const path of ['resetTraffic/nobody', 'updateTraffic/nobody'])
    await refused(
      t,
      panel,
      `${API}/${path}`,
      { body: { upload: 1, download: 1 } },
      { status: 404, code: 'CLIENTS_NOT_FOUND', field: 'email' },
    );
  for (const field of ['upload', 'download']) {
    for (const value of [-1, 1.5, '5', null, Number.MAX_SAFE_INTEGER + 1])
      await refused(
        t,
        panel,
        `${API}/updateTraffic/off`,
        { body: { upload: 1, download: 1, [field]: value } },
        { status: 400, code: 'KERNEL_INVALID', field },
      );
  }
});

test('bulkResetTraffic and resetAllTraffics', async (t) => {
  await using world = await boot();
  const { panel, engine, ids, poll } = world;
  for (const email of ['a', 'b', 'c', 'off'])
    await panel.addClient(email, [ids[0]], { totalGB: 50, enable: email !== 'off' });
  for (const client of [1, 2, 3]) engine.move(ids[0], client, 50, 0);
  await poll('c', 50);
  await until(async () => !(await get(panel, 'c')).enable, 'the quota holds');
  t.deepEqual(await post(panel, 'bulkResetTraffic', { emails: ['a', ' A ', '', 'nobody'] }), {
    affected: 1,
  } as unknown as null);
  t.like(await get(panel, 'a'), { enable: true, traffic: { up: 0 } });
  t.like(await get(panel, 'b'), { enable: false, traffic: { up: 50 } });
  await post(panel, 'resetAllTraffics');
  for (const email of ['a', 'b', 'c'])
    t.like(await get(panel, email), { enable: true, traffic: { up: 0, down: 0 } });
  t.false((await get(panel, 'off')).enable, 'a client that an admin disabled stays disabled');
  t.is(engine.users.size, 3);
});

test('bulkEnable and bulkDisable change existing clients and name the others', async (t) => {
  await using world = await boot();
  const { panel, engine, ids } = world;
  await panel.addClient('a', ids);
  await panel.addClient('b', ids);
  await panel.addClient('past', ids, { expiryTime: 5 });
  const off = await post<{ changed: number } & Skipped>(panel, 'bulkDisable', {
    emails: ['a', 'B', 'nobody', 'past'],
  });
  t.like(off, { changed: 3 });
  t.deepEqual(off.skipped, [{ email: 'nobody', reason: 'client not found', code: 'CLIENTS_NOT_FOUND' }]);
  t.is(engine.users.size, 0);
  const on = await post<{ changed: number } & Skipped>(panel, 'bulkEnable', { emails: ['a', 'past'] });
  t.is(on.changed, 1);
  t.like(on.skipped[0], { email: 'past', code: 'CLIENTS_AT_LIMIT' });
  t.is(engine.users.size, 2);
  await post(panel, 'update/past', { expiryTime: 0 });
  t.true((await get(panel, 'past')).enable, 'the wish was kept');
  t.deepEqual(await post(panel, 'bulkEnable', { emails: [] }), {
    changed: 0,
    skipped: [],
  } as unknown as null);
});

test('bulkAdjust decides each part on its own', async (t) => {
  await using world = await boot();
  const { panel, ids, clock } = world;
  const now = clock.now();
  const clients: Record<string, Record<string, unknown>> = {
    both: { expiryTime: now + DAY, totalGB: 100 },
    never: { totalGB: 100 },
    unlimited: { expiryTime: now + DAY },
    waiting: { expiryTime: -2 * DAY, totalGB: 100 },
    past: { expiryTime: now - DAY, totalGB: 100 },
    pastOff: { expiryTime: now - DAY, totalGB: 100, enable: false },
  };
  for (const [email, fields] of Object.entries(clients)) await panel.addClient(email, [ids[0]], fields);
  await post(panel, 'bulkDisable', { emails: ['pastOff'] });
  const emails = [...Object.keys(clients), 'nobody'];
  const more = await post<{ adjusted: number } & Skipped>(panel, 'bulkAdjust', {
    emails,
    addDays: 2,
    addBytes: 50,
  });
  t.is(more.adjusted, 6);
  t.deepEqual(
    more.skipped.map(({ email, reason }) => `${email}: ${reason}`),
    ['nobody: client not found', 'never: unlimited expiry', 'unlimited: unlimited traffic'],
  );
  t.like(await get(panel, 'both'), { expiryTime: now + 3 * DAY, totalGB: 150 });
  t.like(await get(panel, 'never'), { expiryTime: 0, totalGB: 150 });
  t.like(await get(panel, 'unlimited'), { expiryTime: now + 3 * DAY, totalGB: 0 });
  t.like(await get(panel, 'waiting'), { expiryTime: -4 * DAY });
  t.like(await get(panel, 'past'), { expiryTime: now + DAY, enable: true });
  t.like(await get(panel, 'pastOff'), { expiryTime: now + DAY, enable: false });
  const less = await post<{ adjusted: number } & Skipped>(panel, 'bulkAdjust', {
    emails: ['both', 'waiting'],
    addDays: -4,
    addBytes: -150,
    limitHwid: 3,
  });
  t.is(less.adjusted, 2);
  t.like(
    await get(panel, 'both'),
    { expiryTime: now - DAY, totalGB: 150, limitHwid: 3 },
    'a quota never becomes 0, which means none',
  );
  t.like(await get(panel, 'waiting'), { expiryTime: -4 * DAY, totalGB: 150, limitHwid: 3 });
  t.like(less.skipped[0], { code: 'CLIENTS_NOT_ADJUSTABLE' });
  const flow = await post<{ adjusted: number } & Skipped>(panel, 'bulkAdjust', {
    emails: ['both'],
    flow: 'xtls-rprx-vision',
  });
  t.is(flow.adjusted, 0, 'plain tcp has no use for a flow');
  await refused(
    t,
    panel,
    `${API}/bulkAdjust`,
    { body: { emails } },
    { status: 400, code: 'CLIENTS_NOTHING_TO_ADJUST', field: 'addDays' },
  );
  for (const [field, value] of [
    ['addDays', 1.5],
    ['addBytes', '5'],
    ['flow', 'fast'],
    ['limitHwid', -1],
  ] as const)
    await refused(
      t,
      panel,
      `${API}/bulkAdjust`,
      { body: { emails, addDays: 1, [field]: value } },
      { status: 400, code: 'KERNEL_INVALID', field },
    );
});

test('bulkDel, delDepleted, delOrphans and delAllClients remove exactly their clients', async (t) => {
  await using world = await boot();
  const { panel, engine, ids } = world;
  const clients: [string, number[], Record<string, unknown>][] = [
    ['a', ids, {}],
    ['b', [ids[0]], {}],
    ['past', ids, { expiryTime: 5 }],
    ['renews', [ids[1]], { expiryTime: 5, resetDay: 3 }],
    ['renews-once', [ids[1]], { expiryTime: 5, reset: 3, resetMax: 1 }],
    ['orphan', [ids[0]], {}],
    ['second', [ids[1]], {}],
  ];
  for (const [email, inboundIds, fields] of clients) await panel.addClient(email, inboundIds, fields);
  await post(panel, 'orphan/detach', { inboundIds: ids });
  t.deepEqual(await post(panel, 'delDepleted'), { deleted: 1 } as unknown as null);
  t.deepEqual(await post(panel, 'delOrphans'), { deleted: 1 } as unknown as null);
  t.deepEqual(Object.keys(await attachments(panel)), ['a', 'b', 'renews', 'renews-once', 'second']);
  const gone = await post<{ deleted: number } & Skipped>(panel, 'bulkDel', { emails: ['B', 'nobody'] });
  t.is(gone.deleted, 1);
  t.like(gone.skipped, [{ email: 'nobody', code: 'CLIENTS_NOT_FOUND' }]);
  t.deepEqual(await panel.get(`/panel/api/inbounds/${ids[0]}/delAllClients`, { method: 'POST' }), {
    deleted: 1,
  });
  t.deepEqual(
    Object.keys(await attachments(panel)),
    ['renews', 'renews-once', 'second'],
    'from other inbounds as well',
  );
  t.deepEqual([...engine.users.keys()], [`i${ids[1]}.c7`]);
  await refused(
    t,
    panel,
    '/panel/api/inbounds/999/delAllClients',
    { method: 'POST' },
    { status: 404, code: 'INBOUNDS_NOT_FOUND', field: 'id' },
  );
});

test('bulkAttach and bulkDetach', async (t) => {
  await using world = await boot();
  const { panel, engine, ids } = world;
  await panel.addClient('a', [ids[0]]);
  await panel.addClient('b', [ids[1]]);
  const on = await post<{ attached: string[]; skipped: string[]; errors: string[] }>(panel, 'bulkAttach', {
    emails: ['a', 'b', 'A', 'nobody'],
    inboundIds: [...ids, 999],
  });
  t.deepEqual(
    [on.attached, on.skipped],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
  );
  t.deepEqual(on.errors, ['nobody: client not found', 'inbound 999: there is no inbound with this id']);
  t.is(engine.users.size, 4);
  await post(panel, 'b/detach', { inboundIds: [ids[0]] });
  const off = await post<{ detached: string[]; skipped: string[]; errors: string[] }>(panel, 'bulkDetach', {
    emails: ['a', 'b', 'nobody'],
    inboundIds: [ids[0]],
  });
  t.deepEqual([off.detached, off.skipped, off.errors], [['a'], ['b'], ['nobody: client not found']]);
  t.deepEqual(await attachments(panel), { a: [ids[1]], b: [ids[1]] });
});

test('bulk calls reject bodies of the wrong type', async (t) => {
  await using world = await boot();
  const { panel, ids } = world;
  for (const path of [
    'bulkEnable',
    'bulkDisable',
    'bulkDel',
    'bulkAdjust',
    'bulkResetTraffic',
    'bulkAttach',
    'bulkDetach',
  ]) {
    for (const emails of [undefined, 'a', [5], [null], Array.from({ length: 10_001 }, () => 'a')])
      await refused(
        t,
        panel,
        `${API}/${path}`,
        { body: { emails, inboundIds: ids, addDays: 1 } },
        {
          status: 400,
          code: 'KERNEL_INVALID',
          field: Array.isArray(emails) && emails.length === 1 ? 'emails.0' : 'emails',
        },
      );
  }
  await refused(
    t,
    panel,
    `${API}/bulkDel`,
    { body: { emails: ['a'], keepTraffic: 'yes' } },
    { status: 400, code: 'KERNEL_INVALID', field: 'keepTraffic' },
  );
  await refused(
    t,
    panel,
    `${API}/bulkAttach`,
    { body: { emails: ['a'], inboundIds: [-1] } },
    { status: 400, code: 'KERNEL_INVALID', field: 'inboundIds.0' },
  );
});

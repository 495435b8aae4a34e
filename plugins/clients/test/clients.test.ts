// Runs on every database in test:full.
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { shownFields } from '../model/fields.js';

interface Client {
  readonly id: number;
  readonly email: string;
  readonly subId: string;
  readonly uuid: string;
  readonly password: string;
  readonly enable: boolean;
  readonly inboundIds: number[];
  readonly updatedAt: number;
  readonly createdAt: number;
  readonly traffic: {
    readonly up: number;
    readonly down: number;
    readonly email: string;
    readonly enable: boolean;
  };
  readonly [field: string]: unknown;
}
const UUID = '0b81f4a1-6b1c-4f6e-9d3a-2f4f7a3f1d10';
const get = (panel: TestPanel, email: string): Promise<Client> =>
  panel.get(`/panel/api/clients/get/${encodeURIComponent(email)}`);
const update = (panel: TestPanel, email: string, body: object): Promise<null> =>
  panel.get(`/panel/api/clients/update/${encodeURIComponent(email)}`, { body });
const remove = (panel: TestPanel, email: string): Promise<null> =>
  panel.get(`/panel/api/clients/del/${encodeURIComponent(email)}`, { method: 'POST' });
const boot = (engine: FakeEngine, clock = new FakeClock()): Promise<TestPanel> =>
  TestPanel.boot({ plugins: [engine.plugin], clock });

test('a new client gets its own credentials and every described field', async (t) => {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  await using panel = await boot(engine, clock);
  const inboundId = await panel.addInbound();
  await panel.addClient('a', [inboundId, inboundId]);
  await panel.addClient('b', [inboundId], { subId: ' ', password: '', uuid: '', id: '' });
  const [a, b] = [await get(panel, 'a'), await get(panel, 'b')];
  const names = ['id', ...shownFields, 'inboundIds', 'traffic', 'externalLinks', 'version'];
  t.deepEqual(Object.keys(a).sort(), names.sort());
  t.like(a, {
    enable: true,
    totalGB: 0,
    expiryTime: 0,
    inboundIds: [inboundId],
    group: '',
    comment: '',
    reverse: null,
    createdAt: clock.now(),
    updatedAt: clock.now(),
  });
  for (const client of [a, b]) {
    t.regex(client.uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    t.true(client.subId.length >= 16 && client.password.length >= 16);
  }
  t.is(new Set([a.uuid, b.uuid, a.subId, b.subId, a.password, b.password]).size, 6);
  t.deepEqual(engine.users.get(`i${inboundId}.c${a.id}`), { protocol: 'vless', id: a.uuid, flow: '' });
});

test('id in a client body: a UUID is the uuid, a number is ignored', async (t) => {
  await using panel = await boot(new FakeEngine());
  const inboundId = await panel.addInbound();
  t.is((await panel.addClient('wire', [inboundId], { id: UUID.toUpperCase() })).uuid, UUID);
  const numbered = await panel.addClient('numbered', [inboundId], { id: 7 });
  t.is(numbered.id, 2);
  await update(panel, 'numbered', { id: 1, comment: 'x' });
  t.like(await get(panel, 'numbered'), { id: 2, uuid: numbered.uuid, comment: 'x' });
  await update(panel, 'numbered', { id: UUID.replace('0b81', 'aaaa') });
  t.is((await get(panel, 'numbered')).uuid, UUID.replace('0b81', 'aaaa'));
});

test('ignores unknown keys, trims an email, and accepts enable and a past expiry', async (t) => {
  const engine = new FakeEngine();
  await using panel = await boot(engine);
  const inboundId = await panel.addInbound();
  await panel.get('/panel/api/clients/add', {
    body: {
      client: { email: '  spaced  ', whatever: 1, up: 5, depletedCause: 'quota', createdAt: 5 },
      inboundIds: [inboundId],
      more: 1,
    },
  });
  t.like(await get(panel, 'spaced'), { email: 'spaced', enable: true, traffic: { up: 0 } });
  t.false((await panel.addClient('off', [inboundId], { enable: false }))['enable']);
  t.false((await panel.addClient('past', [inboundId], { expiryTime: 1000 }))['enable']);
  t.deepEqual([...engine.users.keys()], [`i${inboundId}.c1`]);
});

test('an update changes only sent fields; blank credentials stay', async (t) => {
  const clock = new FakeClock();
  await using panel = await boot(new FakeEngine(), clock);
  const inboundId = await panel.addInbound();
  await panel.addClient('a', [inboundId], {
    totalGB: 10,
    comment: 'two\nlines',
    group: 'g',
    tgId: 5,
    limitIp: 2,
    reset: 3,
    reverse: { tag: 'r' },
  });
  const before = await get(panel, 'a');
  clock.tick(1000);
  await update(panel, 'a', { limitIp: 9, subId: '', uuid: '', password: '', id: '' });
  const { version, ...after } = (await get(panel, 'a')) as Client & { readonly version: string };
  t.deepEqual({ ...after, version }, { ...before, limitIp: 9, updatedAt: clock.now(), version } as never);
  clock.tick(1000);
  await update(panel, 'a', { limitIp: 9 });
  await update(panel, 'a', {});
  t.is((await get(panel, 'a')).updatedAt, clock.now() - 1000, 'an update that changes nothing is no update');
  await update(panel, 'a', { comment: '', group: '', tgId: 0, reverse: null });
  t.like(await get(panel, 'a'), { comment: '', group: '', tgId: 0, reverse: null, totalGB: 10 });
});

test('the reply of get can be sent back and changes nothing', async (t) => {
  const clock = new FakeClock();
  await using panel = await boot(new FakeEngine(), clock);
  await panel.addClient('a', [await panel.addInbound()], { totalGB: 10, expiryTime: -5000 });
  const before = await get(panel, 'a');
  clock.tick(1000);
  await update(panel, 'a', before);
  t.deepEqual(await get(panel, 'a'), before);
});

test('the core gets a client only when its credentials or enable change', async (t) => {
  const engine = new FakeEngine();
  await using panel = await boot(engine);
  const inbounds = [await panel.addInbound(), await panel.addInbound({ protocol: 'trojan' })];
  const { id } = await panel.addClient('a', inbounds);
  const told = async (body: object): Promise<unknown[]> => {
    engine.told.length = 0;
    await update(panel, 'a', body);
    return engine.told.flat();
  };
  const refs = inbounds.map((inboundId) => ({ inboundId, clientId: id }));
  t.deepEqual(
    await told({ comment: 'x', totalGB: 5, expiryTime: -100, limitIp: 1, group: 'g', subId: 'other' }),
    [],
  );
  t.deepEqual(await told({ email: 'renamed' }).catch(String), []);
  await update(panel, 'renamed', { email: 'a' });
  t.deepEqual(await told({ uuid: UUID }), refs);
  t.is(engine.users.get(`i${inbounds[0]}.c${id}`)?.['id'], UUID);
  t.deepEqual(await told({ password: 'new password' }), refs);
  t.is(engine.users.get(`i${inbounds[1]}.c${id}`)?.['password'], 'new password');
  t.deepEqual(await told({ enable: true }), []);
  t.deepEqual(await told({ enable: false }), refs);
  t.is(engine.users.size, 0);
  t.deepEqual(await told({ enable: true }), refs);
  t.is(engine.users.size, 2);
});

test('emails with plus, percent signs and letters of any language work in paths, in any case', async (t) => {
  await using panel = await boot(new FakeEngine());
  const inboundId = await panel.addInbound();
  for (const email of [
    'a+b@example.com',
    '100%',
    '%2F',
    'имя',
    'ÄÖ',
    '日本語',
    "o'brien&co=1?x#y",
    '🚀',
    'a:b;c,d',
    '...',
  ]) {
    await panel.addClient(email, [inboundId]);
    const at = encodeURIComponent(email);
    t.is((await get(panel, email)).email, email);
    t.is((await panel.get<{ email: string }>(`/panel/api/clients/traffic/${at}`)).email, email);
    t.is((await panel.get<string[]>(`/panel/api/clients/links/${at}`)).length, 1, email);
    await update(panel, email.toUpperCase(), { comment: `for ${email}` });
    t.like(await get(panel, email.toLowerCase()), { email, comment: `for ${email}` });
    await remove(panel, email);
    t.is((await panel.call(`/panel/api/clients/get/${at}`)).status, 404, email);
  }
});

test('a renamed client keeps its id, credentials and bytes, also if only the case changes', async (t) => {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  await using panel = await boot(engine, clock);
  const inboundId = await panel.addInbound();
  const before = await panel.addClient('old', [inboundId]);
  await panel.addClient('middle', [inboundId]);
  await update(panel, 'old', { email: 'zebra' });
  t.like(await get(panel, 'zebra'), { id: before.id, uuid: before.uuid, subId: before.subId });
  t.is((await panel.call('/panel/api/clients/get/old')).status, 404);
  await update(panel, 'zebra', { email: 'Zebra' });
  t.is((await get(panel, 'zebra')).email, 'Zebra');
  const { items } = await panel.get<{ items: Client[] }>('/panel/api/clients/list/paged?sort=email');
  t.deepEqual(
    items.map(({ email }) => email),
    ['middle', 'Zebra'],
  );
  t.is((await panel.addClient('old', [inboundId])).id, 3);
});

test('of concurrent requests for one email, one succeeds and the others get 409', async (t) => {
  await using panel = await boot(new FakeEngine());
  const inboundIds = [await panel.addInbound()];
  const add = (client: object) =>
    panel.call<{ issues: { path: string }[] }>('/panel/api/clients/add', { body: { client, inboundIds } });
  const codes = async (clients: object[]) => {
    const answers = await Promise.all(clients.map(add));
    t.deepEqual(
      answers.filter(({ status }) => status === 409).map(({ body }) => body.obj.issues.length),
      clients.slice(1).map(() => 1),
    );
    return answers
      .map(({ status, body }) => `${status} ${body.code ?? body.obj?.issues[0]?.path ?? ''}`)
      .sort();
  };
  t.deepEqual(await codes([{ email: 'same' }, { email: 'SAME' }, { email: 'same' }]), [
    '200 ',
    '409 CLIENTS_EMAIL_TAKEN',
    '409 CLIENTS_EMAIL_TAKEN',
  ]);
  t.deepEqual(
    await codes([
      { email: 'a', subId: 'one' },
      { email: 'b', subId: 'one' },
    ]),
    ['200 ', '409 CLIENTS_SUB_ID_TAKEN'],
  );
  t.deepEqual(
    await codes([
      { email: 'c', uuid: UUID },
      { email: 'd', id: UUID.replace('4f6e', '1111') },
    ]),
    ['200 ', '409 CLIENTS_UUID_TAKEN'],
  );
  t.deepEqual(
    await codes([
      { email: 'e', password: 'one' },
      { email: 'f', password: 'one' },
    ]),
    ['200 ', '409 CLIENTS_PASSWORD_TAKEN'],
  );
  t.is((await panel.get<{ total: number }>('/panel/api/clients/list/paged')).total, 4);
});

test('of two concurrent renames to one email, one succeeds', async (t) => {
  await using panel = await boot(new FakeEngine());
  const inboundId = await panel.addInbound();
  for (const email of ['a', 'b']) await panel.addClient(email, [inboundId]);
  const answers = await Promise.all(
    ['a', 'b'].map((email) =>
      panel.call(`/panel/api/clients/update/${email}`, { body: { email: 'wanted' } }),
    ),
  );
  t.deepEqual(answers.map(({ status, body }) => `${status} ${body.code ?? ''}`).sort(), [
    '200 ',
    '409 CLIENTS_EMAIL_TAKEN',
  ]);
});

test('two concurrent updates of different fields both take effect', async (t) => {
  await using panel = await boot(new FakeEngine());
  await panel.addClient('a', [await panel.addInbound()]);
  await Promise.all([
    update(panel, 'a', { comment: 'one' }),
    update(panel, 'a', { totalGB: 2 }),
    update(panel, 'a', { group: 'three' }),
  ]);
  t.like(await get(panel, 'a'), { comment: 'one', totalGB: 2, group: 'three' });
});

test('the second of two concurrent deletions gets 404; the client is removed from the core with all its data', async (t) => {
  const engine = new FakeEngine();
  await using panel = await boot(engine);
  const inboundId = await panel.addInbound();
  await panel.addClient('a', [inboundId]);
  const answers = await Promise.all(
    [1, 2].map(() => panel.call('/panel/api/clients/del/a', { method: 'POST' })),
  );
  t.deepEqual(answers.map(({ status, body }) => `${status} ${body.code ?? ''}`).sort(), [
    '200 ',
    '404 CLIENTS_NOT_FOUND',
  ]);
  t.is(engine.users.size, 0);
  t.deepEqual(
    (await panel.get<{ clientStats: unknown[] }>(`/panel/api/inbounds/get/${inboundId}`)).clientStats,
    [],
  );
});

test('attaching a client while its inbound is deleted fails or has no effect', async (t) => {
  await using panel = await boot(new FakeEngine());
  const [stays, goes] = [await panel.addInbound(), await panel.addInbound()];
  const [, ...adds] = await Promise.all([
    panel.call(`/panel/api/inbounds/del/${goes}`, { method: 'POST' }),
    ...[1, 2, 3, 4].map((i) =>
      panel.call('/panel/api/clients/add', {
        body: { client: { email: `c${i}` }, inboundIds: [stays, goes] },
      }),
    ),
  ]);
  t.true(
    adds.every(
      ({ status, body }) => status === 200 || (status === 404 && body.code === 'INBOUNDS_NOT_FOUND'),
    ),
    JSON.stringify(adds.map(({ text }) => text)),
  );
  const { items } = await panel.get<{ items: Client[] }>('/panel/api/clients/list/paged');
  t.is(items.length, adds.filter(({ status }) => status === 200).length);
  t.true(items.every(({ inboundIds }) => inboundIds.join() === String(stays)));
});

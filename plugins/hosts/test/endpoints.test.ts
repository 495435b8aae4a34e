// Runs on every database in test:full.
// Groups and rows through every endpoint: what stays across updates, what unknown ids get, and the order of subscriptions.
import test from 'ava';
import { type Fields, HOSTS, openWorld, type World } from './world.js';

interface Row extends Fields {
  readonly id: number;
  readonly groupId: string;
  readonly address: string;
  readonly port: number;
  readonly inboundId: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}
interface Group extends Fields {
  readonly groupId: string;
  readonly hosts: readonly string[];
  readonly inboundIds: readonly number[];
}

let world: World;
let a: number;
let b: number;
test.before(async () => {
  world = await openWorld(['ws', 'tcp']);
  a = world.inbounds['ws'] as number;
  b = world.inbounds['tcp'] as number;
});
test.after.always(() => world?.panel[Symbol.asyncDispose]());
const post = <T>(path: string, body?: Fields) =>
  world.panel.get<T>(`${HOSTS}/${path}`, { method: 'POST', ...(body && { body }) });
const get = <T>(path: string) => world.panel.get<T>(`${HOSTS}/${path}`);
const msgOf = async (path: string, body: Fields) =>
  (await world.panel.call(`${HOSTS}/${path}`, { body })).body.msg;
const placeOf = ({ inboundId, address, port }: Row) => `${inboundId} ${address}:${port}`;
test.afterEach.always(async () => {
  const all = await get<Group[]>('list');
  await post('bulk/del', { ids: all.map(({ groupId }) => groupId) });
});

test.serial('a group is a row for each address and inbound; the group is shown as it was sent', async (t) => {
  const rows = await post<Row[]>('bulk/add', {
    inboundIds: [a, b],
    remark: 'CDN',
    hosts: ['c1.example', 'c2.example:2053', '2001:db8::1', '[2001:db8::2]:8443', ''],
    port: 443,
    security: 'tls',
    isDisabled: false,
  });
  t.deepEqual(rows.map(placeOf), [
    `${a} c1.example:443`,
    `${b} c1.example:443`,
    `${a} c2.example:2053`,
    `${b} c2.example:2053`,
    `${a} 2001:db8::1:443`,
    `${b} 2001:db8::1:443`,
    `${a} 2001:db8::2:8443`,
    `${b} 2001:db8::2:8443`,
    `${a} :443`,
    `${b} :443`,
  ]);
  for (const { createdAt, updatedAt, groupId, remark } of rows) {
    t.true(Date.now() - createdAt < 60_000 && updatedAt === createdAt);
    t.regex(groupId, /^[a-z0-9]{16}$/);
    t.is(remark, 'CDN');
  }
  const group = await get<Group>(`get/${rows[0]?.groupId}`);
  t.deepEqual(group.hosts, ['c1.example', 'c2.example:2053', '2001:db8::1', '[2001:db8::2]:8443', '']);
  t.deepEqual(group.inboundIds, [a, b]);
  t.is(group['port'], 443);
  t.deepEqual(await get('list'), [group]);
  t.deepEqual(await get(`byInbound/${b}`), [group]);
});

test.serial(
  'a program that sends back what it was shown changes nothing but the time of the edit',
  async (t) => {
    const rows = await post<Row[]>('add', {
      inboundIds: [a, b],
      remark: 'CDN',
      hosts: ['c1.example:0', 'c2.example:2053', 'c3.example', ':99'],
      port: 443,
      muxParams: null,
      tags: ['EU'],
    });
    t.is(rows[0]?.port, 0, 'the port of the inbound, not that of the group');
    const groupId = rows[0]?.groupId ?? '';
    for (let i = 0; i < 3; i++) {
      const shown = await get<Group>(`get/${groupId}`);
      const again = await post<Row[]>(`update/${groupId}`, shown);
      t.deepEqual(
        again.map(({ updatedAt: _, ...row }) => row),
        rows.map(({ updatedAt: _, ...row }) => row),
      );
      t.deepEqual(await get(`get/${groupId}`), shown);
    }
  },
);

test.serial('rows keep id and createdAt as long as inbound and address stay', async (t) => {
  const rows = await post<Row[]>('add', {
    inboundIds: [a],
    remark: 'CDN',
    hosts: ['one.example', 'two.example:1', 'two.example:2', 'gone.example'],
    port: 443,
  });
  const groupId = rows[0]?.groupId ?? '';
  const [one, two1, two2] = rows.map(({ id }) => id);
  const after = await post<Row[]>(`update/${groupId}`, {
    remark: 'other',
    hosts: ['two.example:2', 'new.example', 'two.example:3', 'one.example:443'],
    inboundIds: [a, b],
    port: 8443,
  });
  const idAt = (place: string) => after.find((row) => placeOf(row) === place)?.id;
  t.is(idAt(`${a} two.example:2`), two2, 'the same');
  t.is(idAt(`${a} one.example:443`), one, 'the same port, now in the text');
  t.is(idAt(`${a} two.example:3`), two1, 'another port');
  t.deepEqual(
    after.filter(({ id }) => rows.some((row) => row.id === id)).map(({ createdAt }) => createdAt),
    rows.slice(0, 3).map(({ createdAt }) => createdAt),
  );
  t.is(after.length, 8);
  t.true(after.every(({ remark }) => remark === 'other'));
  // What was not sent stayed.
  const kept = await post<Row[]>(`update/${groupId}`, { port: 9443 });
  t.deepEqual(
    kept.map(({ id }) => id),
    after.map(({ id }) => id),
  );
  t.is(kept.find(({ address }) => address === 'new.example')?.port, 9443);

  // A row that had the port of its group is the one that has this port now, and rows stand as they were sent.
  const two = await post<Row[]>('add', {
    inboundIds: [a],
    remark: 'two',
    hosts: ['p.example', 'p.example:2'],
    port: 443,
  });
  const [first, second] = two.map(({ id }) => id);
  const moved = await post<Row[]>(`update/${two[0]?.groupId}`, {
    hosts: ['p.example:3', 'p.example:443'],
    port: 8443,
  });
  t.deepEqual(
    moved.map(({ id, port }) => [id, port]),
    [
      [second, 3],
      [first, 443],
    ],
  );
});

test.serial('groups go by sortOrder and remark, and are moved in one call', async (t) => {
  const ids = [];
  for (const remark of ['x', 'y', 'z'])
    ids.push(await world.add({ inboundIds: [a], remark, hosts: [`${remark}.example`] }));
  const order = async () => (await get<Group[]>('list')).map(({ remark }) => remark).join('');
  const served = async () => (await world.links('ws')).map((link) => new URL(link).hostname[0]).join('');
  t.is(await order(), 'xyz');
  t.is(await served(), 'xyz');
  const [x = '', y = '', z = ''] = ids;
  t.is(await msgOf('reorder', { ids: [z, 'nobody', x, y] }), 'host groups moved: 3; unknown: nobody');
  t.is(await order(), 'zxy');
  t.is(await served(), 'zxy');
  const added = await world.add({ inboundIds: [a], remark: 'a', hosts: ['a.example'] });
  t.is(await order(), 'zxya', 'a new one comes last');
  await post(`update/${added}`, { sortOrder: 0 });
  t.is(await order(), 'azxy', 'by remark where sortOrder is the same');
});

test.serial('setEnable and del, for one and for many; unknown ids are named', async (t) => {
  const one = await world.add({ inboundIds: [a], remark: 'one', hosts: ['one.example'] });
  const two = await world.add({ inboundIds: [a], remark: 'two', hosts: ['two.example'] });
  const served = async () => (await world.links('ws')).map((link) => new URL(link).hostname);
  await post(`setEnable/${one}`, { enable: false });
  t.deepEqual(await served(), ['two.example']);
  t.is(
    await msgOf('bulk/setEnable', { ids: [two, 'nobody'], enable: false }),
    'host groups disabled: 1; unknown: nobody',
  );
  t.deepEqual(await served(), ['203.0.113.1'], 'the inbound itself');
  await post('bulk/setEnable', { ids: [one, two], enable: true });
  t.deepEqual(await served(), ['one.example', 'two.example']);
  await post(`del/${one}`);
  t.is(await msgOf('bulk/del', { ids: ['nobody', two] }), 'host groups deleted: 1; unknown: nobody');
  t.deepEqual(await served(), ['203.0.113.1']);
  t.deepEqual(await get('list'), []);
  for (const [path, body] of [
    ['get/nobody', undefined],
    ['update/nobody', { remark: 'x' }],
    ['del/nobody', {}],
    ['setEnable/nobody', { enable: true }],
  ] as const) {
    const answer = await world.panel.call(`${HOSTS}/${path}`, body && { body });
    t.is(answer.status, 404, path);
    t.is(answer.body.code, 'HOSTS_NOT_FOUND', path);
    t.true(answer.body.msg.includes('nobody'), path);
  }
  t.is((await world.panel.call(`${HOSTS}/byInbound/9999`)).status, 404);
  t.deepEqual(await get(`byInbound/${a}`), []);
});

test.serial('tags are listed once, sorted', async (t) => {
  await world.add({ inboundIds: [a], remark: 'one', tags: ['EU', 'CDN'] });
  await world.add({ inboundIds: [b], remark: 'two', tags: ['ASIA:1', 'EU'] });
  t.deepEqual(await get('tags'), ['ASIA:1', 'CDN', 'EU']);
});

test.serial(
  'rows of a deleted inbound go, other rows of the group stay, and a group without rows goes',
  async (t) => {
    const { panel } = world;
    const gone = await panel.addInbound();
    const both = await world.add({
      inboundIds: [a, gone],
      remark: 'both',
      hosts: ['x.example', 'y.example'],
    });
    await world.add({ inboundIds: [gone], remark: 'gone' });
    await panel.get(`/panel/api/inbounds/del/${gone}`, { method: 'POST' });
    const left = await get<Group[]>('list');
    t.deepEqual(
      left.map(({ groupId, inboundIds, hosts }) => ({ groupId, inboundIds, hosts })),
      [{ groupId: both, inboundIds: [a], hosts: ['x.example', 'y.example'] }],
    );
    t.is((await panel.call(`${HOSTS}/byInbound/${gone}`)).status, 404);
  },
);

test.serial('a groupId of the caller is used, once', async (t) => {
  t.is(await world.add({ inboundIds: [a], remark: 'mine', groupId: 'fallback_7' }), 'fallback_7');
  const again = await world.panel.call(`${HOSTS}/add`, {
    body: { inboundIds: [a], remark: 'mine', groupId: 'fallback_7' },
  });
  t.deepEqual([again.status, again.body.code], [409, 'HOSTS_GROUP_TAKEN']);
});

test.serial('null means the initial value, and numbers may be texts', async (t) => {
  const groupId = await world.add({
    inboundIds: [a],
    remark: 'r',
    hosts: null,
    port: '443',
    sni: null,
    tags: null,
    muxParams: null,
    sockoptParams: null,
    vlessRoute: 53,
    groupId: null,
  });
  const group = await get<Group>(`get/${groupId}`);
  t.deepEqual(
    [group.hosts, group['port'], group['sni'], group['tags'], group['muxParams'], group['vlessRoute']],
    [[''], 443, '', [], null, '53'],
  );
});

test.serial('where REALITY has no effect, msg says so', async (t) => {
  t.is(
    await msgOf('add', { inboundIds: [a, b], remark: 'r', security: 'reality' }),
    `hosts added; security reality means same at inbounds without REALITY (${a}, ${b})`,
  );
});

// Runs on every database.
// An admin of groups sees the clients of these groups and no others, and an id of another one is as one of nobody.
import test from 'ava';
import { addGroupAdmin, boot, GIB, type GroupAdmin, OWN, type World } from './world.js';

interface Scene extends World {
  readonly staff: GroupAdmin;
  readonly ada: number;
  /** ids of clients of another group, of none, of a group whose name differs by case, deleted, and never there */
  readonly strangers: readonly number[];
}
async function scene(): Promise<Scene> {
  const world = await boot();
  const { panel, add } = world;
  const staff = await addGroupAdmin(panel, 'staff', ['north', 'east']);
  const ada = await add('ada', 'north', { comment: 'of the north', totalGB: GIB });
  await add('eve', 'east');
  const strangers = [
    await add('south-ada', 'south', { comment: 'secret' }),
    await add('nobody', '', { comment: 'secret' }),
    await add('case', 'North', { comment: 'secret' }),
    await add('gone', 'north'),
  ];
  await panel.get('/panel/api/clients/del/gone', { body: {} });
  return { ...world, staff, ada, strangers: [...strangers, 999_999] };
}

test('no call reaches a client that is not in the groups, and the answers do not differ', async (t) => {
  await using world = await scene();
  const { panel, staff, strangers } = world;
  const before = await panel.get('/panel/api/clients/list/paged');
  for (const id of strangers) {
    const at = `${OWN}/clients/${id}`;
    for (const [path, body] of [
      [at, undefined],
      [at, { comment: 'mine', totalGB: 5 }],
      [at, { group: 'north' }],
      [`${at}/reset`, {}],
      [`${at}/renew`, { days: 1 }],
      [`${at}/del`, {}],
    ] as const) {
      const { status, body: answer } = await staff.call(path, body);
      t.deepEqual(
        [status, answer.code, answer.msg],
        [404, 'GROUP_ROLES_NO_CLIENT', `there is no client with the id ${id} in your groups`],
        path,
      );
    }
  }
  t.deepEqual(await panel.get('/panel/api/clients/list/paged'), before);
});

test('the list, its counts and its search know clients of the groups only', async (t) => {
  await using world = await scene();
  const { staff } = world;
  t.deepEqual(await staff.emails(), ['ada', 'eve']);
  for (const search of ['south', 'secret', 'nobody', 'case', 'gone'])
    t.deepEqual(await staff.emails(`search=${search}`), [], search);
  for (const query of ['search=ADA', 'search=of the NORTH', 'sort=email&pageSize=1'])
    t.deepEqual(await staff.emails(query), ['ada'], query);
  t.deepEqual(await staff.emails('sort=email&order=descend&status=active'), ['eve', 'ada']);
  const { counts, filtered } = await staff.page();
  t.deepEqual([counts['total'], filtered], [2, 2]);
  t.is(await staff.told(`${OWN}/clients?group=south`), '200', 'an unknown parameter is nothing');
  t.false((await staff.call(`${OWN}/clients?group=south`)).text.includes('secret'));
});

test('a page is the page of the whole list, filtered by the groups', async (t) => {
  await using world = await boot();
  const { panel, add, engine, inbound } = world;
  const staff = await addGroupAdmin(panel, 'staff', ['a', 'b', 'nobody is here']);
  for (let i = 0; i < 18; i++) {
    const limits = { totalGB: (1 + (i % 4)) * GIB, enable: i % 5 > 0 };
    const id = await add(`c${(i * 7) % 18}`, ['a', 'b', 'c'][i % 3] ?? '', limits);
    engine.move(inbound, id, i * 1000, 0);
  }
  await world.use(0, 0);
  for (const sort of ['', 'email', 'enable', 'traffic', 'remaining', 'createdAt', 'lastOnline'])
    for (const rest of [
      'order=ascend',
      'order=descend&status=active',
      'order=ascend&status=deactive,online',
    ]) {
      const query = `pageSize=200&sort=${sort}&${rest}`;
      const { items } = await panel.get<{ items: { email: string }[] }>(
        `/panel/api/clients/list/paged?group=a,b&${query}`,
      );
      t.deepEqual(
        await staff.emails(query),
        items.map(({ email }) => email),
        query,
      );
    }
  const second = await staff.page('page=2&pageSize=5');
  t.deepEqual([second.items.length, second.filtered], [5, 12]);
});

test('shows links and subscription, and no keys, settings of inbounds or other groups', async (t) => {
  await using world = await scene();
  const { panel, staff, ada, inbound } = world;
  await panel.get('/panel/api/clients/update/ada', { body: { tgId: 77 } });
  const other = await panel.addInbound({ remark: 'of the south' });
  await panel.get('/panel/api/clients/south-ada/attach', { body: { inboundIds: [other] } });
  const one = await staff.client(ada);
  t.deepEqual(Object.keys(one).sort(), [
    ...['comment', 'createdAt', 'depletedCause', 'down', 'email', 'enable', 'expiryTime', 'flow', 'group'],
    ...['id', 'inboundIds', 'lastOnline', 'limitHwid', 'limitIp', 'links', 'online', 'subscription'],
    ...['totalGB', 'up', 'updatedAt'],
  ]);
  t.is(one.links.length, 1);
  t.regex(one.subscription, /^https?:\/\//);
  t.deepEqual(await staff.get(`${OWN}/me`), {
    level: 'write',
    groups: [
      { name: 'east', clients: 1 },
      { name: 'north', clients: 1 },
    ],
    inbounds: [{ id: inbound, remark: 'shared', protocol: 'vless', flow: false }],
  });
});

test('who has no such role gets nothing there, whatever else he may', async (t) => {
  await using world = await scene();
  const { panel, staff } = world;
  t.is((await panel.call(`${OWN}/clients`)).body.code, 'GROUP_ROLES_NO_ROLE', 'a full admin has none');
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'robot', role: staff.role },
  });
  const asRobot = { anonymous: true, headers: { authorization: `Bearer ${token}` } };
  t.is((await panel.call(`${OWN}/clients`, asRobot)).body.code, 'GROUP_ROLES_NO_ROLE');
  t.is((await panel.call('/panel/api/clients/list', asRobot)).status, 403);
});

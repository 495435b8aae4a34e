// Runs on every database.
// Two resellers and clients of nobody: each sees and changes his own only, and an id of another is as one of nobody.
import test from 'ava';
import { addSeller, boot, GIB, OWN, RESELLERS, type Seller, type World } from './world.js';

interface Scene extends World {
  readonly north: Seller;
  readonly south: Seller;
  /** ids of clients that are not of `north`: of another one, of nobody, deleted, never there */
  readonly strangers: readonly number[];
}
async function scene(): Promise<Scene> {
  const world = await boot();
  const { panel, inbound } = world;
  const fields = { inboundIds: [inbound], mayReset: true };
  const north = await addSeller(panel, 'north', fields);
  const south = await addSeller(panel, 'south', fields);
  await north.add('north-ada', { inboundIds: [inbound], totalGB: GIB, comment: 'of the north' });
  const hers = await south.add('south-ada', { inboundIds: [inbound], totalGB: GIB, comment: 'secret' });
  const gone = await south.add('south-gone', { inboundIds: [inbound], totalGB: GIB });
  await south.delete(gone.id);
  await panel.addClient('nobody', [inbound], { group: 'hidden', comment: 'secret' });
  const { id = 0 } = await panel.get<{ id: number }>('/panel/api/clients/get/nobody');
  return { ...world, north, south, strangers: [hers.id, id, gone.id, 999_999] };
}

test('no call reaches a client of somebody else, and the answers do not differ', async (t) => {
  await using world = await scene();
  const { panel, north, strangers } = world;
  const before = await panel.get('/panel/api/clients/list/paged');
  for (const id of strangers) {
    const at = `${OWN}/clients/${id}`;
    for (const [path, body] of [
      [at, undefined],
      [at, { comment: 'mine', totalGB: 5 }],
      [`${at}/reset`, {}],
      [`${at}/renew`, { days: 1 }],
      [`${at}/del`, {}],
    ] as const) {
      const { status, body: answer } = await north.call(path, body);
      t.deepEqual(
        [status, answer.code, answer.msg],
        [404, 'RESELLERS_NO_CLIENT', `you have no client with the id ${id}`],
        path,
      );
    }
  }
  t.deepEqual(await panel.get('/panel/api/clients/list/paged'), before);
});

test('the list, its counts and its search know his clients only', async (t) => {
  await using world = await scene();
  const { north, south } = world;
  t.deepEqual(await north.emails(), ['north-ada']);
  for (const search of ['south', 'secret', 'nobody', 'hidden'])
    t.deepEqual(await north.emails(`search=${search}`), [], search);
  for (const query of ['status=active', 'sort=traffic&order=descend', 'search=ADA', 'pageSize=0&page=0'])
    t.deepEqual(await north.emails(query), ['north-ada'], query);
  const page = await south.get<{ counts: { total: number }; filtered: number }>(`${OWN}/clients`);
  t.deepEqual([page.counts.total, page.filtered], [1, 1]);
  t.is(await north.told(`${OWN}/clients?group=hidden&inboundIds=1`), '200', 'unknown parameters are nothing');
  t.false((await north.call(`${OWN}/clients`)).text.includes('secret'));
});

test('pages, sorts and finds as the list of all clients does', async (t) => {
  await using world = await boot();
  const { panel, inbound, engine, clock } = world;
  const north = await addSeller(panel, 'north', { inboundIds: [inbound] });
  for (let i = 0; i < 12; i++) {
    await panel.addClient(`other-${i}`, [inbound]);
    const fields = {
      totalGB: (1 + (i % 5)) * GIB,
      expiryTime: clock.now() + (i % 4) * 1e9,
      enable: i % 3 > 0,
    };
    const { id } = await north.add(`c${(i * 7) % 12}`, { inboundIds: [inbound], ...fields });
    engine.move(inbound, id, i * 1000, 0);
  }
  await world.use(0, 0);
  const ofAll = async (query: string): Promise<string[]> => {
    const path = `/panel/api/clients/list/paged?pageSize=200&search=c&${query}`;
    const { items } = await panel.get<{ items: { email: string }[] }>(path);
    return items.map(({ email }) => email).filter((email) => email.startsWith('c'));
  };
  for (const sort of ['', 'email', 'enable', 'traffic', 'remaining', 'expiryTime', 'createdAt', 'lastOnline'])
    for (const order of ['ascend', 'descend'])
      for (const status of ['', 'active', 'deactive', 'online,depleted']) {
        const query = `sort=${sort}&order=${order}&status=${status}`;
        const { items } = await north.get<{ items: { email: string }[] }>(
          `${OWN}/clients?pageSize=200&${query}`,
        );
        t.deepEqual(
          items.map(({ email }) => email),
          await ofAll(query),
          query,
        );
      }
  const second = await north.get<{ items: unknown[]; filtered: number }>(`${OWN}/clients?page=2&pageSize=5`);
  t.deepEqual([second.items.length, second.filtered], [5, 12]);
});

test('shows no keys, groups, settings of inbounds or names of others', async (t) => {
  await using world = await scene();
  const { panel, north, inbound } = world;
  const [{ id = 0 } = {}] = (await north.get<{ items: { id: number }[] }>(`${OWN}/clients`)).items;
  await panel.get('/panel/api/clients/update/north-ada', { body: { group: 'inner circle', tgId: 77 } });
  const one = await north.client(id);
  t.deepEqual(Object.keys(one).sort(), [
    ...['comment', 'createdAt', 'depletedCause', 'down', 'email', 'enable', 'expiryTime', 'flow', 'id'],
    ...['inboundIds', 'lastOnline', 'limitHwid', 'limitIp', 'links', 'online', 'subscription', 'totalGB'],
    ...['up', 'updatedAt'],
  ]);
  t.is(one.links.length, 1);
  t.regex(one.subscription, /^https?:\/\//);
  const figures = await north.get<{ inbounds: object[] }>(`${OWN}/me`);
  t.deepEqual(figures.inbounds, [{ id: inbound, remark: 'allowed', protocol: 'vless', flow: false }]);
  t.false(JSON.stringify([one, figures]).includes('inner circle'));
});

test('a body sets only what a reseller may set', async (t) => {
  await using world = await scene();
  const { panel, north, inbound } = world;
  const hostile = {
    ...{ subId: 'chosen', uuid: '6f1e4a0c-3a51-4a5e-9a55-3f1f9d6c2b10', password: 'chosen', group: 'hidden' },
    ...{ tgId: 5, reset: 1, resetDay: 1, resetMax: 0, trafficReset: 'hourly', reverse: { tag: 'out' } },
    ...{ depletedCause: 'quota', externalLinks: [{ kind: 'link', value: 'vless://x@y:1' }], up: 0, id: 1 },
    ...{ elsewhereUp: -5, credentials: [{ inboundId: inbound, password: 'x' }], createdAt: 1, client: {} },
  };
  const made = await north.add('made', { inboundIds: [inbound], totalGB: GIB, ...hostile });
  t.is(await north.change(made.id, hostile), '200');
  const stored = await panel.get<Record<string, unknown>>('/panel/api/clients/get/made');
  const untouched = { group: '', tgId: 0, reset: 0, resetDay: 0, trafficReset: 'never', reverse: null };
  t.like(stored, { ...untouched, externalLinks: [], enable: true });
  for (const name of ['subId', 'uuid', 'password'] as const) t.not(stored[name], hostile[name]);
});

test('who is no reseller gets nothing there, whatever else he may', async (t) => {
  await using world = await scene();
  const { panel, north } = world;
  t.is((await panel.call(`${OWN}/clients`)).body.code, 'RESELLERS_NOT_RESELLER', 'a full admin is none');
  await panel.get(`${RESELLERS}/${north.id}/del`, { body: {} });
  t.is(await north.told(`${OWN}/clients`), '403 NOT_RESELLER', 'in force at once');
  t.is(await north.told(`${OWN}/clients`, { email: 'x', inboundIds: [1] }), '403 NOT_RESELLER');
});

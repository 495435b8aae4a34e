// Runs on every database in test:full.
// Everything that a panel shows of clients and groups is in the database: the next panel shows the same.
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';

const API = '/panel/api/clients';
const DAY = 86_400_000;

test('a restart changes nothing in the replies about clients', async (t) => {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const boot = (options: { dataDirectory?: string } = {}) =>
    TestPanel.boot({ plugins: [engine.plugin], clock, ...options });
  const panel = await boot();
  t.teardown(() => panel[Symbol.asyncDispose]());
  const post = (path: string, body: object = {}) => panel.get(`${API}/${path}`, { method: 'POST', body });
  const [one, two] = [await panel.addInbound(), await panel.addInbound({ protocol: 'trojan' })];
  // No two numbers are the same, so that none can stand in the place of another.
  const fields = (base: number) => ({
    totalGB: base * 1000 + 1,
    expiryTime: clock.now() + base * DAY + 2,
    limitIp: base + 3,
    limitHwid: base + 4,
    tgId: base * 1000 + 5,
    reset: base + 6,
    resetDay: base + 7,
    resetMax: base + 8,
    group: `group ${base}`,
    comment: `two\nlines of ${base}`,
    reverse: { tag: `r${base}` },
    flow: 'xtls-rprx-vision',
  });
  const ids: Record<string, number> = {};
  for (const email of ['added', 'updated', 'used', 'set', 'full', 'bulk', 'Öde', 'back'])
    ids[email] = (await panel.addClient(email, [one, two], email === 'added' ? fields(9) : {})).id;
  await panel.addClient('off', [one], { enable: false, expiryTime: -5 * DAY });
  clock.tick(1000);
  await post('update/updated', {
    ...fields(20),
    email: 'Renamed',
    uuid: 'ABCDEF00-1111-4222-8333-444444444444',
    subId: 'another',
    password: 'another one',
  });
  await post('bulkAdjust', {
    emails: ['added', 'bulk', 'updated', 'renamed'],
    addDays: 1,
    addBytes: 17,
    limitHwid: 2,
  });
  await post('bulk/detach', { inboundIds: [one] });
  await post('groups/bulkAdd', { emails: ['bulk', 'used'], group: 'together' });
  await post('groups/create', { name: 'empty' });
  await post('update/full', { totalGB: 50 });
  for (const [up, down] of [
    [10, 20],
    [300, 4000],
  ] as const) {
    for (const email of ['used', 'full', 'back'])
      engine.move(up === 10 ? one : two, ids[email] as number, up, down);
    clock.tick(5000);
    await panel.kernel.settled();
  }
  const polledAt = clock.now();
  // By then nobody is online any more, which no database knows.
  clock.tick(60_000);
  await panel.kernel.settled();
  await post('updateTraffic/set', { upload: 12, download: 3456 });
  await post('groups/resetTraffic', { name: 'together' });
  await post('bulkDisable', { emails: ['Öde'] });
  await post('del/back?keepTraffic=1');
  await panel.addClient('back', [one]);

  const shown = async (of: TestPanel) => ({
    list: await of.get<Record<string, unknown>[]>(`${API}/list`),
    groups: await of.get(`${API}/groups`),
    exported: await of.get(`${API}/export`),
    inbounds: (await of.get<{ clientStats: unknown }[]>('/panel/api/inbounds/list')).map(
      ({ clientStats }) => clientStats,
    ),
    summary: (await of.get<{ summary: unknown }>(`${API}/list/paged`)).summary,
  });
  const before = await shown(panel);
  t.like(
    before.list.find(({ email }) => email === 'used'),
    { enable: true, group: 'together', traffic: { up: 310, down: 4020, lastOnline: polledAt } },
  );
  t.like(
    before.list.find(({ email }) => email === 'full'),
    { enable: false },
  );
  await panel.stop();

  const next = await boot({ dataDirectory: panel.dataDirectory });
  t.teardown(() => next.stop());
  t.deepEqual(await shown(next), before);
  // Names and credentials that were given up are free, and those in use are taken.
  const add = async (client: object): Promise<string> => {
    const { status, body } = await next.call(`${API}/add`, { body: { client, inboundIds: [one] } });
    return `${status} ${body.code ?? ''}`.trim();
  };
  t.is(await add({ email: 'RENAMED' }), '409 CLIENTS_EMAIL_TAKEN');
  t.is(await add({ email: 'O\u0308de' }), '409 CLIENTS_EMAIL_TAKEN', 'the same letters, composed otherwise');
  t.is(await add({ email: 'x', subId: 'another' }), '409 CLIENTS_SUB_ID_TAKEN');
  // VLESS ignores the third group.
  t.is(await add({ email: 'x', uuid: 'abcdef00-1111-4999-8333-444444444444' }), '409 CLIENTS_UUID_TAKEN');
  t.is(await add({ email: 'x', password: 'another one' }), '409 CLIENTS_PASSWORD_TAKEN');
  const { uuid, subId, password } = before.list.find(({ email }) => email === 'set') as Record<
    string,
    string
  >;
  await next.get(`${API}/update/set`, {
    body: { email: 'y', uuid: '00000000-1111-4222-8333-555555555555', subId: 'z', password: 'zz' },
  });
  t.is(await add({ email: 'set', uuid, subId, password }), '200');
  // What was kept of an email is given back once.
  await next.get(`${API}/update/back`, { body: { email: 'kept-on' } });
  t.is(await add({ email: 'back' }), '200');
  t.like(await next.get(`${API}/traffic/back`), { up: 0, down: 0, lastOnline: 0 });
  t.like(await next.get(`${API}/traffic/kept-on`), { up: 310, down: 4020 });
});

// Endpoints of another shape than ours.
import anyTest, { type TestFn } from 'ava';
import { OLD_UUID as UUID, OldProgram } from './old-panel.js';

const test = anyTest as TestFn<{ old: OldProgram; inbound: number }>;
test.beforeEach(async (t) => {
  const old = await OldProgram.boot();
  t.context = { old, inbound: await old.inbound() };
});
test.afterEach.always(async (t) => t.context.old?.[Symbol.asyncDispose]());

const BASE = '/panel/api/inbounds';
const about = (id: number, ...clients: object[]) => ({ id, settings: JSON.stringify({ clients }) });
interface Shown {
  readonly uuid: string;
  readonly email: string;
  readonly totalGB: number;
  readonly inboundIds: readonly number[];
  readonly traffic: { readonly up: number; readonly down: number };
}
const shown = async (old: OldProgram, email: string): Promise<Shown | undefined> =>
  (await old.panel.call<Shown[]>('/panel/api/clients/list')).body.obj.find(
    (client) => client.email === email,
  );

test('addClient adds clients to an inbound', async (t) => {
  const { old, inbound } = t.context;
  const ann = { id: UUID, email: 'ann', enable: true, totalGB: 5, tgId: '', reset: null, limitIp: null };
  const { body } = await old.post(`${BASE}/addClient`, about(inbound, ann, { email: 'bob', enable: true }));
  t.true(body.success, body.msg);
  t.like(await shown(old, 'ann'), { uuid: UUID, totalGB: 5, inboundIds: [inbound] });
  t.like(await shown(old, 'bob'), { inboundIds: [inbound] });
  const again = await old.post(`${BASE}/addClient`, about(inbound, ann));
  t.is(again.status, 200);
  t.like(again.body, { success: false, code: 'CLIENTS_EMAIL_TAKEN' });
});

test('addClient takes a form, and settings as an object', async (t) => {
  const { old, inbound } = t.context;
  const settings = encodeURIComponent(JSON.stringify({ clients: [{ email: 'ann' }] }));
  const form = await old.call(`${BASE}/addClient`, {
    rawBody: `id=${inbound}&settings=${settings}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  t.true(form.body.success, form.text);
  t.true(
    (await old.post(`${BASE}/addClient`, { id: inbound, settings: { clients: [{ email: 'bob' }] } })).body
      .success,
  );
  t.truthy(await shown(old, 'ann'));
  t.truthy(await shown(old, 'bob'));
});

for (const [what, body] of [
  ['no settings', { id: 1 }],
  ['settings that are no JSON', { id: 1, settings: '{' }],
  ['no clients', { id: 1, settings: '{"clients":[]}' }],
  ['clients that are no list', { id: 1, settings: '{"clients":{}}' }],
  ['a client that is no object', { id: 1, settings: '{"clients":[7]}' }],
  ['a blank id', { id: '', settings: '{"clients":[{"email":"x"}]}' }],
  ['an inbound that is not there', { id: 99, settings: '{"clients":[{"email":"x"}]}' }],
  ['a list', []],
] as const)
  test(`addClient refuses ${what}, in words`, async (t) => {
    const { old } = t.context;
    const answer = await old.post(`${BASE}/addClient`, body);
    t.is(answer.status, 200, answer.text);
    t.false(answer.body.success);
    t.not(answer.body.msg, '');
    t.deepEqual((await old.panel.call('/panel/api/clients/list')).body.obj, []);
  });

test('updateClient finds the client by UUID, password or email, only in its inbound', async (t) => {
  const { old, inbound } = t.context;
  const other = await old.inbound();
  await old.post(
    `${BASE}/addClient`,
    about(inbound, { id: UUID, email: 'ann', password: 'a-password-of-hers' }),
  );
  for (const [i, key] of [UUID, 'a-password-of-hers', 'ann'].entries()) {
    const { body } = await old.post(
      `${BASE}/updateClient/${key}`,
      about(inbound, { email: 'ann', totalGB: i + 1 }),
    );
    t.true(body.success, body.msg);
    t.is((await shown(old, 'ann'))?.totalGB, i + 1);
  }
  const elsewhere = await old.post(
    `${BASE}/updateClient/${UUID}`,
    about(other, { email: 'ann', totalGB: 9 }),
  );
  t.like(elsewhere.body, { success: false, code: 'CLIENTS_NOT_FOUND' });
  t.is((await shown(old, 'ann'))?.totalGB, 3);
});

test('a client that is deleted from one of its inbounds stays in the others', async (t) => {
  const { old, inbound } = t.context;
  const other = await old.inbound();
  await old.panel.call('/panel/api/clients/add', {
    body: { client: { email: 'ann', id: UUID }, inboundIds: [inbound, other] },
  });
  t.true((await old.post(`${BASE}/${inbound}/delClient/${UUID}`)).body.success);
  t.deepEqual((await shown(old, 'ann'))?.inboundIds, [other]);
  t.false((await old.post(`${BASE}/${inbound}/delClient/${UUID}`)).body.success);
  t.true((await old.post(`${BASE}/${other}/delClientByEmail/ann`)).body.success);
  t.is(await shown(old, 'ann'), undefined);
});

test('traffic is shown, set and reset', async (t) => {
  const { old, inbound } = t.context;
  await old.post(`${BASE}/addClient`, about(inbound, { id: UUID, email: 'ann' }, { email: 'bob' }));
  const set = (email: string) => old.post(`${BASE}/updateClientTraffic/${email}`, { upload: 5, download: 6 });
  t.true((await set('ann')).body.success);
  t.like((await old.call(`${BASE}/getClientTraffics/ann`)).body.obj, { email: 'ann', up: 5, down: 6 });
  t.like((await old.call(`${BASE}/getClientTrafficsById/${UUID}`)).body.obj, [
    { email: 'ann', up: 5, down: 6 },
  ]);
  t.like((await old.call(`${BASE}/getClientTraffics/nobody`)).body, { success: true, obj: null });
  t.true((await old.post(`${BASE}/${inbound}/resetClientTraffic/ann`)).body.success);
  t.like((await shown(old, 'ann'))?.traffic, { up: 0, down: 0 });

  const other = await old.inbound();
  for (const id of [inbound, -1]) {
    await set('ann');
    await set('bob');
    t.true((await old.post(`${BASE}/resetAllClientTraffics/${other}`)).body.success);
    t.like((await shown(old, 'bob'))?.traffic, { up: 5, down: 6 });
    t.true((await old.post(`${BASE}/resetAllClientTraffics/${id}`)).body.success);
    for (const email of ['ann', 'bob']) t.like((await shown(old, email))?.traffic, { up: 0, down: 0 });
  }
});

test('delDepletedClients deletes those of one inbound that reached a limit', async (t) => {
  const { old, inbound } = t.context;
  const other = await old.inbound();
  const over = { totalGB: 10 };
  await old.post(`${BASE}/addClient`, about(inbound, { email: 'ann', ...over }, { email: 'bob' }));
  await old.post(`${BASE}/addClient`, about(other, { email: 'cat', ...over }));
  for (const email of ['ann', 'bob', 'cat'])
    await old.post(`${BASE}/updateClientTraffic/${email}`, { upload: 50, download: 0 });
  t.true((await old.post(`${BASE}/delDepletedClients/${inbound}`)).body.success);
  t.is(await shown(old, 'ann'), undefined);
  t.truthy(await shown(old, 'bob'));
  t.truthy(await shown(old, 'cat'));
  t.true((await old.post(`${BASE}/delDepletedClients/-1`)).body.success);
  t.is(await shown(old, 'cat'), undefined);
  t.false((await old.post(`${BASE}/delDepletedClients/x`)).body.success);
});

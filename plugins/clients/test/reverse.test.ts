// Runs on every database in test:full.
// The tag of a client's reverse tunnel: unique, no outbound of the panel's, and known to the core.
import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

const API = '/panel/api/clients';
const engine = new FakeEngine();
let panel: TestPanel;
let inbound: number;
test.before(async () => {
  panel = await TestPanel.boot({ plugins: [engine.plugin] });
  inbound = await panel.addInbound();
});
test.after.always(() => panel?.[Symbol.asyncDispose]());

const add = (email: string, reverse: unknown) =>
  panel.call(`${API}/add`, { body: { client: { email, reverse }, inboundIds: [inbound] } });
const update = (email: string, body: object) => panel.call(`${API}/update/${email}`, { body });

test.serial('a tag is unique, and free again when it is given up', async (t) => {
  t.is((await add('a', { tag: 'home' })).status, 200);
  const taken = await add('b', { tag: 'home' });
  t.is(taken.status, 409);
  t.is(taken.body.code, 'CLIENTS_REVERSE_TAKEN');
  t.regex(taken.body.msg, /reverse tag home/);
  t.is((await add('b', { tag: 'office' })).status, 200);
  t.is((await update('b', { reverse: { tag: 'home' } })).body.code, 'CLIENTS_REVERSE_TAKEN');
  t.is((await update('a', { reverse: { tag: 'home' }, comment: 'same tag' })).status, 200);
  t.is((await update('a', { reverse: null })).status, 200);
  t.is((await update('b', { reverse: { tag: 'home' } })).status, 200);
  await panel.get(`${API}/del/b`, { method: 'POST' });
  t.is((await update('a', { reverse: { tag: 'home' } })).status, 200);

  const bulk = await panel.get<{ created: number; skipped: { code: string }[] }>(`${API}/bulkCreate`, {
    body: ['c', 'd'].map((email) => ({ client: { email, reverse: { tag: 'shop' } }, inboundIds: [inbound] })),
  });
  t.is(bulk.created, 1);
  t.deepEqual(
    bulk.skipped.map(({ code }) => code),
    ['CLIENTS_REVERSE_TAKEN'],
  );
});

test.serial('of concurrent calls with one tag, one succeeds', async (t) => {
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, i) => add(`at-once-${i}`, { tag: 'once' })),
  );
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409, 409, 409]);
});

test.serial('what cannot be a tag is refused by its field', async (t) => {
  for (const reverse of [
    {},
    { tag: '' },
    { tag: 'a b' },
    { tag: 'a,b' },
    { tag: 5 },
    { tag: 'x'.repeat(65) },
  ]) {
    const { status, body } = await add('wrong', reverse);
    t.is(status, 400, JSON.stringify(reverse));
    t.regex(body.msg, /client\.reverse\.tag/);
  }
  for (const tag of ['direct', 'blocked', 'weir.api']) {
    const { status, body } = await add('wrong', { tag });
    t.is(status, 400);
    t.regex(body.msg, new RegExp(`the outbound ${tag.replace('.', '\\.')} belongs to the panel`));
  }
  t.is((await add('wrong', { tag: 'ok', sniffing: 'yes' })).status, 400);
});

test.serial('the core is told at once', async (t) => {
  const client = await panel.addClient('told', [inbound]);
  engine.told.length = 0;
  await panel.get(`${API}/update/told`, { body: { reverse: { tag: 'told' } } });
  t.deepEqual(engine.told, [[{ inboundId: inbound, clientId: client.id }]]);
  const account = engine.users.get(`i${inbound}.c${client.id}`);
  t.is(Buffer.from(String(account?.['reverse']), 'base64').toString('latin1'), '\n\u0004told');
  await panel.get(`${API}/update/told`, { body: { reverse: null } });
  t.false('reverse' in (engine.users.get(`i${inbound}.c${client.id}`) ?? {}));
});

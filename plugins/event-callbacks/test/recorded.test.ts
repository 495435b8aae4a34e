// Runs on every database.
// What is recorded of endpoints, and what events and redeliveries leave out.
import test from 'ava';
import { until } from '../../../test/harness/until.js';
import { bootWithEndpoints } from './endpoint-world.js';
import { clientOf } from './receiver.js';

const PATH = '/panel/api/x/event-callbacks';

test('the audit names a rotation and a new address, and shows neither secret nor address', async (t) => {
  await using world = await bootWithEndpoints();
  const { panel, add } = world;
  const shop = await add();
  const { secret } = await panel.get<{ secret: string }>(`${PATH}/endpoints/${shop.id}/rotate`, { body: {} });
  const body = { url: `${shop.receiver.url}?key=a-key-of-the-shop` };
  await panel.get(`${PATH}/endpoints/${shop.id}`, { body });
  const changes = await panel.get<{ kind: string; fields: object }[]>(
    '/panel/api/x/audit/changes?limit=20&area=eventCallback',
  );
  const updated = changes.filter(({ kind }) => kind === 'updated').map(({ fields }) => Object.keys(fields));
  t.deepEqual(updated, [['url'], ['secretId']]);
  const text = JSON.stringify(changes);
  t.false(text.includes('a-key-of-the-shop') || text.includes(shop.receiver.url) || text.includes(secret));
});

test('a credential that changed is named, without its values', async (t) => {
  await using world = await bootWithEndpoints();
  const { panel, inbound, add } = world;
  const shop = await add(undefined, ['client.updated']);
  await panel.addClient('ann', [inbound]);
  const uuid = '0f0e0d0c-0b0a-4908-8706-050403020100';
  await panel.get('/panel/api/clients/update/ann', { body: { id: uuid, subId: 'another-sub' } });
  await until(() => shop.receiver.received.length === 1, 'the event arrives');
  const [{ json, body } = { json: undefined, body: '' }] = shop.receiver.received;
  t.is(clientOf(json)['email'], 'ann');
  t.deepEqual([...((json?.data['changed'] ?? []) as string[])].sort(), ['subId', 'uuid']);
  t.deepEqual(json?.data['previous'], {});
  t.false(body.includes(uuid) || body.includes('another-sub'));
});

test('events that were not attempted yet are sent once, also when a span is sent again', async (t) => {
  await using world = await bootWithEndpoints();
  const { panel, inbound, add } = world;
  const shop = await add((_, reply) => void reply.writeHead(503, { 'retry-after': '3600' }).end());
  for (const email of ['ann', 'bob', 'eve']) await panel.addClient(email, [inbound]);
  await until(async () => (await shop.endpoint()).failures === 1, 'the first one fails');
  const { text } = await panel.call(`${PATH}/endpoints/${shop.id}/redeliver`, { body: { from: 0 } });
  t.regex(text, /1 events/);
  t.is((await shop.endpoint()).waiting, 3);
  shop.receiver.received.length = 0;
  shop.receiver.reply = (_, reply) => void reply.writeHead(204).end();
  await panel.get(`${PATH}/endpoints/${shop.id}`, { body: { enable: true } });
  await until(async () => (await shop.endpoint()).waiting === 0, 'all are taken');
  const emails = shop.receiver.received.map(({ json }) => clientOf(json)['email']);
  t.deepEqual(emails, ['ann', 'bob', 'eve']);
});

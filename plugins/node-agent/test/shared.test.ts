// Runs on every database in test:full.
// What the admin of the node changes, what two centrals claim, and how a central sees it.
import { createHash } from 'node:crypto';
import test from 'ava';
import { servicesOf } from '../../../test/harness/services-of.js';
import { ClientChanges } from '../client-changes.js';
import nodeAgent from '../index.js';
import { client, inbound, openManaged, OTHER, type ToldRecord, uuidOf, wire } from './world.js';

const states = (records: readonly ToldRecord[]) =>
  Object.fromEntries(records.map(({ kind, id, state }) => [`${kind} ${id}`, state]));
const post = { method: 'POST' } as const;

test('edits by hand are told as drift; the same version again undoes them', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  const { panel, apply, records } = world;
  const same = [inbound(7, 2, { port: 20_811 }), client(1, 2, { comment: 'wanted' }), client(2, 2)];
  await apply(...same);
  const id = (await world.client('c1')).inboundIds[0] ?? 0;
  await panel.get('/panel/api/clients/update/c1', { body: { comment: 'by hand' } });
  t.deepEqual(states(await records()), { 'inbound 7': 'ok', 'client 1': 'drifted', 'client 2': 'ok' });
  await apply(...same);
  t.is((await world.client('c1')).comment, 'wanted');
  t.deepEqual(states(await records()), { 'inbound 7': 'ok', 'client 1': 'ok', 'client 2': 'ok' });

  await panel.get('/panel/api/clients/del/c2', post);
  await panel.get(`/panel/api/inbounds/update/${id}`, { body: { remark: 'by hand' } });
  await panel.get('/panel/api/clients/c1/detach', { body: { inboundIds: [id] } });
  t.deepEqual(states(await records()), {
    'inbound 7': 'drifted',
    'client 1': 'drifted',
    'client 2': 'drifted',
  });
  await apply(...same);
  t.deepEqual((await world.client('c1')).inboundIds, [id]);
  t.is((await world.client('c2')).uuid, uuidOf(2));
  t.is((await world.inbounds())[0]?.remark, '');

  await panel.get(`/panel/api/inbounds/del/${id}`, post);
  t.deepEqual(states(await records()), {
    'inbound 7': 'drifted',
    'client 1': 'drifted',
    'client 2': 'drifted',
  });
  t.deepEqual(
    (await apply(...same)).map(({ ok }) => ok),
    [true, true, true],
  );
  t.deepEqual((await world.client('c1')).inboundIds.length, 1);
  // An admin's own inbound beside those of the central is none of its business.
  const own = await panel.addInbound();
  await panel.get('/panel/api/clients/c1/attach', { body: { inboundIds: [own] } });
  t.is(states(await records())['client 1'], 'ok');
});

test('an edit by hand that comes between a change and its write is told as drift', async (t) => {
  const observed = servicesOf<ConstructorParameters<typeof ClientChanges>[0]>(nodeAgent);
  const world = await openManaged({ plugins: [observed.plugin] });
  await using _ = world.panel;
  const { centrals, records, clientEdits, ...needs } = observed.services;
  const make: typeof clientEdits.make = async (...given) => {
    // Its period is another one now: the central has to learn of it.
    await world.panel.get('/panel/api/clients/resetTraffic/c1', post);
    return clientEdits.make(...given);
  };
  const changes = new ClientChanges({ ...needs, centrals, records, clientEdits: { ...clientEdits, make } });
  const [central] = centrals.list();
  if (!central) return t.fail('nobody manages it');
  const change = client(1, 2, { comment: 'wanted' });
  await changes.make(central, [{ ...change, kind: 'client' }], await records.inbounds(central.id));
  t.is((await world.client('c1')).comment, 'wanted');
  t.deepEqual(states(await world.records()), { 'inbound 7': 'ok', 'client 1': 'drifted', 'client 2': 'ok' });
});

test('limits and the first use are no drift, and a duration that has started goes on', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  const value = { totalGB: 100, expiryTime: -3_600_000 };
  await world.apply(client(1, 2, value));
  await world.move(1, 60, 60);
  const cut = await world.client('c1');
  t.false(cut.enable);
  t.true(cut.expiryTime > 0);
  t.is(states(await world.records())['client 1'], 'ok');
  await world.apply(client(1, 3, { ...value, comment: 'new' }));
  const after = await world.client('c1');
  t.deepEqual([after.expiryTime, after.enable, after.comment], [cut.expiryTime, false, 'new']);
  await world.apply(client(1, 4, { ...value, totalGB: 0, expiryTime: -7_200_000 }));
  t.is((await world.client('c1')).expiryTime, -7_200_000, 'another duration is one that has not started');
  // What the central disables stays disabled when a limit is lifted.
  await world.apply(client(1, 5, { totalGB: 100, enable: false }));
  await world.apply(client(1, 6, { totalGB: 1_000_000, enable: false }));
  t.false((await world.client('c1')).enable);
  await world.apply(client(1, 7, { totalGB: 1_000_000 }));
  t.true((await world.client('c1')).enable);
});

test('two centrals that claim one tag, port or client are told both, and the first one stays', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  const other = wire(world.panel, OTHER);
  const before = await world.inbounds();
  const results = await other.apply(
    inbound(70, 1, { tag: 'central-7' }),
    inbound(71, 1, { tag: 'x', port: before[0]?.port }),
    client(1, 1),
  );
  t.deepEqual(
    results.map(({ ok }) => ok),
    [false, false, false],
  );
  for (const { reason } of results.slice(0, 2)) t.regex(reason ?? '', /managed by c0000000/);
  t.deepEqual(await world.inbounds(), before);
  t.deepEqual((await world.records())[0]?.contestedBy, OTHER);
  // Its own inbound, and a client with an email that is another central's.
  await other.apply(inbound(72, 1), client(1, 2, {}, [72]), client(3, 1, { email: 'free' }, [72]));
  t.regex(
    (await other.records()).find(({ kind, id }) => kind === 'client' && id === 1)?.refused ?? '',
    /managed by/,
  );
  t.is((await world.records()).find(({ kind, id }) => kind === 'client' && id === 1)?.contestedBy, OTHER);
  t.deepEqual((await world.client('c1')).inboundIds, [before[0]?.id]);
  // The claim ends.
  await other.apply(inbound(70, 2, null), inbound(71, 2, null));
  t.is((await world.records())[0]?.contestedBy, undefined);
  // And the first one ends.
  await world.apply(client(1, 2, null));
  await world.settle(60_000);
  t.true((await other.records()).every(({ state }) => state === 'ok'));
});

test('a central that is released claims nothing any more', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  await wire(world.panel, OTHER).apply(inbound(70, 1, { tag: 'central-7' }));
  t.is((await world.records())[0]?.contestedBy, OTHER);
  await world.panel.get('/panel/api/x/node/centrals/release', { body: { central: OTHER } });
  t.is((await world.records())[0]?.contestedBy, undefined);
});

test('the digest is the one that a central computes, and one change makes one bucket another one', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);
  const expected = (lines: Record<number, string[]>) =>
    Array.from({ length: 256 }, (_x, i) => hash((lines[i] ?? []).sort().join('\n')));
  await world.apply(client(257, 4), client(3, 1, { totalGB: -1 }), client(2, 9, null));
  const lines = { 7: ['inbound:7:1:ok'], 1: ['client:1:1:ok', 'client:257:4:ok'], 3: ['client:3:1:refused'] };
  t.deepEqual(await world.buckets(), expected(lines));
  t.is(await world.digest(), hash(expected(lines).join('\n')));
  await world.panel.get('/panel/api/clients/update/c257', { body: { comment: 'by hand' } });
  lines[1] = ['client:1:1:ok', 'client:257:4:drifted'];
  t.deepEqual(await world.buckets(), expected(lines));
  t.deepEqual(
    (await world.records('&bucket=1')).map(({ id, state }) => [id, state]),
    [
      [1, 'ok'],
      [257, 'drifted'],
    ],
  );
});

test('a released central is forgotten; its clients stay, and another one adopts them', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  const { panel } = world;
  await world.move(1, 1, 1);
  await world.usage();
  const centrals = () => panel.get<{ guid: string; records: number }[]>('/panel/api/x/node/centrals');
  t.deepEqual(
    (await centrals()).map(({ records }) => records),
    [3],
  );
  await panel.get('/panel/api/x/node/centrals/release', { body: { central: (await centrals())[0]?.guid } });
  t.deepEqual(await centrals(), []);
  t.deepEqual(await world.emails(), ['c1', 'c2']);
  const other = wire(panel, OTHER);
  const port = (await world.inbounds())[0]?.port;
  t.true((await other.apply(inbound(7, 1, { port }), client(1, 1))).every(({ ok }) => ok));
  t.deepEqual((await other.usage())[0]?.users, []);
});

// Runs on every database.
// What a central wants comes about, in any order, once.
import test from 'ava';
import { client, inbound, openWorld, uuidOf } from './world.js';

const OK = (results: readonly { readonly ok: boolean }[]) => results.map(({ ok }) => ok);

test('inbounds and clients come, change and go; repeated and late changes do nothing', async (t) => {
  const world = await openWorld();
  await using _ = world.panel;
  const { apply } = world;
  const first = [inbound(7, 1), client(1, 1), client(2, 1, { comment: 'two' })];
  t.deepEqual(OK(await apply(...first)), [true, true, true]);
  t.deepEqual(await world.emails(), ['c1', 'c2']);
  const [made] = await world.inbounds();
  t.is(made?.tag, 'central-7');
  const two = await world.client('c2');
  t.deepEqual([two.inboundIds, two.uuid, two.comment], [[made?.id ?? 0], uuidOf(2), 'two']);

  t.deepEqual(OK(await apply(...first)), [true, true, true], 'twice');
  t.deepEqual(await world.client('c2'), two);
  // The whole state: what is left out has its initial value.
  t.deepEqual(OK(await apply(client(2, 5, { email: 'renamed' }))), [true]);
  const renamed = await world.client('renamed');
  t.deepEqual([renamed.id, renamed.comment, renamed.uuid], [two.id, '', uuidOf(2)]);
  t.deepEqual(OK(await apply(client(2, 4, { email: 'older' }))), [true]);
  t.deepEqual(await world.emails(), ['c1', 'renamed']);

  t.deepEqual(OK(await apply(client(2, 6, null))), [true]);
  t.deepEqual(OK(await apply(client(2, 5, { email: 'renamed' }))), [true], 'late');
  t.deepEqual(OK(await apply(client(2, 6, { email: 'renamed' }))), [true], 'of the version of the deletion');
  t.deepEqual(await world.emails(), ['c1']);
  t.deepEqual(OK(await apply(client(2, 7, { email: 'again' }))), [true], 'newer than the deletion');
  t.deepEqual(await world.emails(), ['again', 'c1']);

  t.deepEqual(OK(await apply(inbound(7, 2, null))), [true]);
  t.deepEqual(await world.inbounds(), []);
  t.deepEqual((await world.client('c1')).inboundIds, []);
  t.deepEqual(
    (await world.records()).map(({ kind, id }) => [kind, id]),
    [
      ['client', 1],
      ['client', 2],
    ],
  );
});

test('a client waits for its inbound, and one for two of them is attached to the one that is here', async (t) => {
  const world = await openWorld();
  await using _ = world.panel;
  const [one, two] = await world.apply(client(1, 1, {}, [7]), client(2, 1, {}, [8, 7]));
  t.deepEqual([one?.reason, two?.reason], ['waits for the inbound 7', 'waits for the inbound 8']);
  t.deepEqual(await world.emails(), []);
  t.true((await world.apply(inbound(7, 1)))[0]?.ok);
  t.deepEqual(await world.emails(), ['c1', 'c2']);
  t.deepEqual((await world.apply(client(2, 1, {}, [8, 7])))[0]?.reason, 'waits for the inbound 8');
  t.deepEqual((await world.client('c2')).inboundIds.length, 1);
  await world.apply(inbound(8, 1));
  t.deepEqual((await world.client('c2')).inboundIds.length, 2);
  t.deepEqual(
    (await world.records()).map(({ state }) => state),
    ['ok', 'ok', 'ok', 'ok'],
  );
  // Detached by the next state; other inbounds of this machine are none of the central's business.
  const own = await world.panel.addInbound();
  await world.panel.get('/panel/api/clients/c2/attach', { body: { inboundIds: [own] } });
  await world.apply(client(2, 2, {}, [8]));
  const [, here] = (await world.inbounds()).filter(({ tag }) => tag.startsWith('central-'));
  t.deepEqual((await world.client('c2')).inboundIds.toSorted(), [here?.id ?? 0, own].toSorted());
  await world.apply(client(2, 3, null));
  t.deepEqual((await world.client('c2')).inboundIds, [own], 'it stays where the admin attached it');
});

test('a record that is wrong is refused alone, with the reason, and tried again when what was in its way is gone', async (t) => {
  const world = await openWorld();
  await using _ = world.panel;
  await world.apply(inbound(7, 1), client(1, 1));
  const results = await world.apply(
    client(2, 1, { totalGB: -1 }),
    client(3, 1, { email: 'C1' }),
    client(4, 1, { uuid: 'no' }),
    client(5, 1),
    inbound(8, 1, { protocol: 'smoke' }),
    inbound(9, 1, { settings: '{"clients":[{"email":"inside"}]' }),
    { kind: 'host', id: 1, version: 1, value: {} },
  );
  t.deepEqual(OK(results), [false, false, false, true, false, false, false]);
  t.regex(results[0]?.reason ?? '', /totalGB/);
  t.regex(results[1]?.reason ?? '', /email/);
  t.regex(results[2]?.reason ?? '', /uuid/);
  t.regex(results[4]?.reason ?? '', /smoke/);
  t.regex(results[6]?.reason ?? '', /kind host/);
  t.deepEqual(await world.emails(), ['c1', 'c5']);
  const refused = (await world.records()).filter(({ state }) => state === 'refused');
  t.deepEqual(refused.map(({ kind, id }) => `${kind} ${id}`).sort(), [
    'client 2',
    'client 3',
    'client 4',
    'inbound 8',
    'inbound 9',
  ]);
  t.is(refused.find(({ id }) => id === 3)?.refused, results[1]?.reason);
  // The name becomes free with a change of another record.
  await world.apply(client(1, 2, { email: 'ann' }));
  t.deepEqual(await world.emails(), ['C1', 'ann', 'c5']);
  // Or by an admin: a look each minute.
  t.is((await world.apply(client(6, 1, { email: 'taken' }), client(7, 1, { email: 'taken' })))[1]?.ok, false);
  await world.panel.get('/panel/api/clients/del/taken', { method: 'POST' });
  await world.settle(60_000);
  t.is((await world.client('taken')).uuid, uuidOf(7));
  // A newer version that is right.
  t.deepEqual(OK(await world.apply(client(2, 2, { totalGB: 1 }))), [true]);
});

test('names go round in a circle between clients of one call', async (t) => {
  const world = await openWorld();
  await using _ = world.panel;
  await world.apply(inbound(7, 1), client(1, 1, { email: 'a' }), client(2, 1, { email: 'b' }));
  // One is deleted and its email is of another one, in one call.
  t.deepEqual(OK(await world.apply(client(3, 1, { email: 'a' }), client(1, 2, null))), [true, true]);
  t.is((await world.client('a')).uuid, uuidOf(3));
});

test('inbounds of the machine are adopted by tag or place; clients by email with their subId or UUID', async (t) => {
  const world = await openWorld();
  await using _ = world.panel;
  const { panel } = world;
  const byTag = await panel.addInbound({ tag: 'mine', port: 20_801 });
  const byPlace = await panel.addInbound({ tag: 'place', port: 20_802 });
  await panel.get('/panel/api/clients/add', {
    body: { client: { email: 'ann', uuid: uuidOf(1), totalGB: 5 }, inboundIds: [byTag] },
  });
  await panel.get('/panel/api/clients/add', { body: { client: { email: 'ben' }, inboundIds: [byTag] } });
  const results = await world.apply(
    inbound(7, 1, { tag: 'mine', port: 20_803 }),
    inbound(8, 1, { tag: 'renamed', port: 20_802 }),
    client(1, 1, { email: 'ann', totalGB: 9 }),
    client(2, 1, { email: 'ben' }),
  );
  t.deepEqual(OK(results), [true, true, true, false]);
  t.regex(results[3]?.reason ?? '', /another subId and UUID/);
  t.deepEqual(
    (await world.inbounds()).map(({ id, tag, port }) => [id, tag, port]),
    [
      [byTag, 'mine', 20_803],
      [byPlace, 'renamed', 20_802],
    ],
  );
  t.is((await world.client('ann')).totalGB, 9);
  t.deepEqual(await world.emails(), ['ann', 'ben']);
});

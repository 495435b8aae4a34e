// Runs on every database in test:full.
// A central that sends what it must not: refused, with the field, and nothing has changed.
import test from 'ava';
import { gzipSync } from 'node:zlib';
import { refused } from '../../../test/harness/refused.js';
import { CENTRAL, client, inbound, openManaged, OTHER, wire } from './world.js';

const NODE = '/panel/api/x/node';

test('bodies that are not as declared change nothing', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  const { panel } = world;
  const INVALID = { status: 400, code: 'KERNEL_INVALID' };
  const apply = (changes: unknown, field: string, central: unknown = CENTRAL) =>
    refused(t, panel, `${NODE}/apply`, { body: { central, changes } }, { ...INVALID, field });
  const good = client(3, 1);
  await apply([good, { ...good, version: 0 }], 'changes.1.version');
  await apply([{ ...good, id: -1 }], 'changes.0.id');
  await apply([{ ...good, id: '1; DROP TABLE clients' }], 'changes.0.id');
  await apply([{ ...good, version: 1.5 }], 'changes.0.version');
  await apply([{ kind: 'client', id: 3, version: 1 }], 'changes.0.value');
  await apply([{ ...good, value: 'gone' }], 'changes.0.value');
  await apply([{ ...good, inboundIds: [0] }], 'changes.0.inboundIds.0');
  await apply({ 0: good }, 'changes');
  await apply([good], 'central', 'a b');
  await apply([good], 'central', `x'); DROP TABLE clients; --`);
  await apply([good], 'central', 'g'.repeat(65));
  const { guid } = await panel.get<{ guid: string }>(`${NODE}/state?central=${CENTRAL}`);
  await refused(
    t,
    panel,
    `${NODE}/apply`,
    { body: { central: guid, changes: [good] } },
    {
      status: 400,
      code: 'NODE_AGENT_OWN_GUID',
      field: 'central',
    },
  ).catch((error: unknown) => t.fail(String(error)));

  const elsewhere = (user: object, field: string) =>
    refused(
      t,
      panel,
      `${NODE}/elsewhere`,
      { body: { central: CENTRAL, users: [user] } },
      { ...INVALID, field },
    );
  await elsewhere({ id: 1, up: -1, down: 0 }, 'users.0.up');
  await elsewhere({ id: 1, up: 0, down: 1e300 }, 'users.0.down');
  await elsewhere({ id: 1, up: 0, down: '5 GB' }, 'users.0.down');
  await refused(
    t,
    panel,
    `${NODE}/usage/ack`,
    { body: { central: CENTRAL, epoch: 'x', seq: -1 } },
    { ...INVALID, field: 'seq' },
  );
  for (const query of [
    'central=',
    'central=%00',
    `central=${CENTRAL}&after=-1`,
    `central=${CENTRAL}&after=x`,
  ])
    t.is((await panel.call(`${NODE}/usage?${query}`)).status, 400, query);
  for (const query of ['bucket=256', 'after=client', 'after=inbound.1%20OR%201', 'bucket=-1'])
    t.is((await panel.call(`${NODE}/state/records?central=${CENTRAL}&${query}`)).status, 400, query);
});

test('too much is refused before it is parsed or stored', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  const { panel } = world;
  const before = await world.records();
  const body = (changes: readonly object[]) => JSON.stringify({ central: CENTRAL, changes });
  const tiny = (id: number) => ({ kind: 'client', id, version: 1, value: null });
  const many = body(Array.from({ length: 5_001 }, (_x, i) => tiny(i + 1)));
  const json = { 'content-type': 'application/json' };
  t.is((await panel.call(`${NODE}/apply`, { rawBody: many, headers: json })).status, 400);
  const large = body([client(9, 1, { comment: 'x'.repeat(11_000_000) })]);
  t.is((await panel.call(`${NODE}/apply`, { rawBody: large, headers: json })).status, 413);
  const bomb = gzipSync(large);
  const packed = await panel.call(`${NODE}/apply`, {
    rawBody: bomb as unknown as string,
    headers: { ...json, 'content-encoding': 'gzip' },
  });
  t.is(packed.status, 413, `${bomb.length} bytes`);
  const users = Array.from({ length: 25_001 }, (_x, i) => ({ id: i + 1, up: 1, down: 1 }));
  t.is((await panel.call(`${NODE}/elsewhere`, { body: { central: CENTRAL, users } })).status, 400);
  // One record that is too long is refused alone.
  const [long, short] = await world.apply(client(9, 1, { junk: 'x'.repeat(1_200_000) }), client(10, 1));
  t.regex(long?.reason ?? '', /1 MiB/);
  t.true(short?.ok);
  t.is((await world.records()).length, before.length + 2);
});

test('the clients and inbounds of others are out of reach', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  const { panel } = world;
  const own = await panel.addInbound();
  const mine = await panel.addClient('mine', [own], { totalGB: 100 });
  const other = wire(panel, OTHER);
  const [c1] = [await world.client('c1')];
  // By the ids of this panel, of the other central, and by names.
  await other.apply(client(mine.id, 1, null), client(1, 1, null), inbound(own, 1, null), inbound(7, 1, null));
  t.deepEqual(await other.elsewhere({ id: 1, up: 1000, down: 0 }, { id: mine.id, up: 1000, down: 0 }), {
    taken: 0,
    skipped: [1, mine.id],
  });
  const results = await other.apply(
    inbound(20, 1),
    client(21, 1, { email: 'mine', subId: 'guess', uuid: undefined }, [20]),
    client(22, 1, { email: 'new', subId: mine.subId, uuid: undefined }, [20]),
    client(23, 1, { email: 'new2', subId: 'new2', uuid: mine.uuid }, [20]),
    client(
      24,
      1,
      { id: mine.id, email: 'new3', subId: 'new3', uuid: undefined, up: 5, depletedCause: 'quota' },
      [20],
    ),
  );
  t.deepEqual(
    results.map(({ ok }) => ok),
    [true, false, false, false, true],
  );
  const made = await world.client('new3');
  t.deepEqual([made.id === mine.id, made.traffic.up, made.enable], [false, 0, true]);
  const after = await world.client('mine');
  t.deepEqual([after.uuid, after.inboundIds, after.enable], [mine.uuid, [own], true]);
  t.deepEqual(await world.client('c1'), c1);
  t.is((await world.inbounds()).length, 3);
  // It cannot place an inbound on another machine, nor clients inside one.
  await other.apply(inbound(25, 1, { nodeId: 3, settings: { clients: [{ email: 'inside' }] } }));
  t.false((await world.emails()).includes('inside'));
});

test('only so many centrals', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  for (let i = 1; i < 16; i++) await wire(world.panel, `central-${i}`).apply();
  const answer = await world.panel.call(`${NODE}/apply`, { body: { central: 'one-more', changes: [] } });
  t.is(answer.status, 409);
  t.regex(answer.text, /NODE_AGENT_TOO_MANY_CENTRALS/);
  await world.panel.get(`${NODE}/centrals/release`, { body: { central: 'central-3' } });
  t.is((await world.panel.call(`${NODE}/apply`, { body: { central: 'one-more', changes: [] } })).status, 200);
  t.is(
    (
      await world.panel.call(`${NODE}/apply`, {
        body: { central: 'x', changes: [] },
        headers: { cookie: '' },
      })
    ).status,
    401,
  );
});

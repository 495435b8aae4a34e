// What a node says to a central about who is connected, and what it learns of other machines.
import test from 'ava';
import { ConnectingEngine } from '../../node-sync/test/connecting-engine.js';
import { FakeClock, TestPanel } from '../../../test/harness/index.js';
import { CENTRAL, client, inbound, OTHER, wire } from './world.js';

interface Told {
  readonly position: string;
  readonly isFull: boolean;
  readonly devices: unknown[];
  readonly machines: {
    readonly guid: string;
    readonly online: number[];
    readonly gone: number[];
    readonly active: number[];
    readonly idle: number[];
  }[];
  readonly addresses: {
    readonly id: number;
    readonly ip: string;
    readonly since: number;
    readonly seen: number;
  }[];
}
const USAGE = '/panel/api/x/node/usage';
const ADDRESSES = '/panel/api/x/node/addresses';

async function open() {
  const engine = new ConnectingEngine();
  const clock = new FakeClock();
  const panel = await TestPanel.boot({ plugins: [engine.plugin, engine.listener], clock });
  await wire(panel).apply(inbound(7, 1), client(1, 1, { limitIp: 1 }), client(2, 1), client(3, 1));
  const [here] = await panel.get<{ id: number }[]>('/panel/api/inbounds/list');
  const inboundId = here?.id ?? 0;
  const ask = (presence: string, central = CENTRAL) =>
    panel.get<{ presence?: Told }>(`${USAGE}?central=${central}&presence=${presence}`);
  const idOf = async (email: string) =>
    (await panel.get<{ id: number }>(`/panel/api/clients/get/${email}`)).id;
  const settle = async (ms: number) => {
    clock.tick(ms);
    for (let i = 0; i < 5; i++) await new Promise(setImmediate);
    await panel.kernel.settled();
  };
  return {
    engine,
    clock,
    panel,
    inboundId,
    settle,
    idOf,
    told: async (presence: string, central?: string) => (await ask(presence, central)).presence as Told,
    move: async (...emails: string[]) => {
      for (const email of emails) engine.move(inboundId, await idOf(email), 1, 1);
      await settle(5_000);
    },
    connect: async (email: string, address: string) => {
      engine.connect({ inboundId, clientId: await idOf(email) }, address);
      await settle(0);
    },
    addresses: (seen: object[], central = CENTRAL) =>
      panel.call<{ taken: number }>(ADDRESSES, { body: { central, seen } }),
  };
}

test('only what changed is told, whichever replies are lost; without a position nothing', async (t) => {
  const world = await open();
  await using _ = world.panel;
  t.false('presence' in (await world.panel.get<object>(`${USAGE}?central=${CENTRAL}`)));
  await world.move('c1', 'c2');
  const first = await world.told('');
  t.true(first.isFull);
  t.deepEqual(
    first.machines.map(({ online, active }) => [online.sort(), active]),
    [[[1, 2], [7]]],
  );
  t.deepEqual(await world.told(first.position), {
    position: first.position,
    isFull: false,
    machines: [],
    addresses: [],
    devices: [],
  });
  await world.move('c2', 'c3');
  const lost = await world.told(first.position);
  t.deepEqual([lost.isFull, lost.machines[0]?.online], [false, [3]]);
  await world.settle(15_000);
  // Of the client that left before the reply that was lost, and of the other one.
  await world.move('c2');
  const second = await world.told(first.position);
  t.like(second.machines[0], { online: [], gone: [1], active: [] });
  t.is(second.isFull, false);
  await world.move('c1', 'c2');
  const third = await world.told(second.position);
  t.like(third.machines[0], { online: [1], gone: [] });
  await world.settle(21_000);
  const last = await world.told(third.position);
  t.deepEqual(last.machines[0]?.gone.sort(), [1, 2]);
  t.deepEqual(last.machines[0]?.idle, [7]);
  // What is older than the last two positions, or of another process, is told from the beginning.
  t.true((await world.told(first.position)).isFull);
  t.true((await world.told('00000000.5.5')).isFull);
  t.true((await world.told('nonsense')).isFull);
});

test('strangers and clients of another central are not told; one that becomes a client of it is', async (t) => {
  const world = await open();
  await using _ = world.panel;
  const own = await world.panel.addInbound();
  const { id: stranger } = await world.panel.addClient('stranger', [own]);
  await wire(world.panel, OTHER).apply(
    inbound(7, 1, { tag: 'theirs' }),
    client(9, 1, { email: 'theirs', uuid: undefined }),
  );
  const theirs = await world.panel.get<{ id: number; inboundIds: number[] }>('/panel/api/clients/get/theirs');
  world.engine.move(own, stranger, 5, 5);
  world.engine.move(theirs.inboundIds[0] ?? 0, theirs.id, 5, 5);
  world.engine.connect({ inboundId: own, clientId: stranger }, '192.0.2.99');
  await world.move('c1');
  await world.connect('c1', '192.0.2.1');
  const told = await world.told('');
  t.deepEqual(
    told.machines.map(({ online, active }) => [online, active]),
    [[[1], [7]]],
  );
  t.deepEqual(
    told.addresses.map(({ id, ip }) => [id, ip]),
    [[1, '192.0.2.1']],
  );
  t.deepEqual(
    (await world.told('', OTHER)).machines.map(({ online }) => online),
    [[9]],
  );
  // The central adopts the client: it is looked up again after half a minute.
  const { uuid, subId } = await world.panel.get<{ uuid: string; subId: string }>(
    '/panel/api/clients/get/stranger',
  );
  await wire(world.panel).apply(client(4, 1, { email: 'stranger', uuid, subId }));
  world.clock.tick(31_000);
  world.engine.move(own, stranger, 5, 5);
  await world.move('c1');
  t.deepEqual((await world.told(told.position)).machines[0]?.online, [4]);
});

test('addresses are told when they are new, then every half minute with a limit and every five minutes without', async (t) => {
  const world = await open();
  await using _ = world.panel;
  let { position } = await world.told('');
  const news = async () => {
    const told = await world.told(position);
    ({ position } = told);
    return told.addresses.map(({ id, ip, since, seen }) => [id, ip, since, seen]);
  };
  for (const email of ['c1', 'c2']) await world.connect(email, '192.0.2.1');
  t.deepEqual(await news(), [
    [1, '192.0.2.1', 0, 0],
    [2, '192.0.2.1', 0, 0],
  ]);
  t.deepEqual(await news(), []);
  for (let i = 0; i < 4; i++) {
    await world.settle(10_000);
    for (const email of ['c1', 'c2']) await world.connect(email, '192.0.2.1');
  }
  t.deepEqual(await news(), [[1, '192.0.2.1', 40_000, 0]]);
  for (let i = 0; i < 5; i++) {
    await world.settle(60_000);
    await world.connect('c2', '192.0.2.1');
  }
  t.deepEqual(await news(), [[2, '192.0.2.1', 340_000, 0]]);
});

test('what other machines saw counts for limitIp for two minutes, and is not told back', async (t) => {
  const world = await open();
  await using _ = world.panel;
  const at = (ip: string, since: number, seen = 0, id = 1) => ({
    id,
    ip,
    guid: 'other-machine',
    since,
    seen,
  });
  await world.connect('c1', '192.0.2.1');
  await world.settle(5_000);
  // It began after the connection here.
  t.is((await world.addresses([at('198.51.100.1', 1_000)])).body.obj.taken, 1);
  await world.settle(0);
  t.deepEqual(world.engine.exceeded, []);
  await world.settle(1_000);
  // It began before.
  await world.addresses([at('198.51.100.2', 60_000)]);
  await world.settle(0);
  t.deepEqual(world.engine.exceeded, ['c1 192.0.2.1']);
  t.deepEqual(
    (await world.told('')).addresses.map(({ ip }) => ip),
    ['192.0.2.1'],
  );
  // The central is away: this panel goes on alone.
  await world.settle(121_000);
  await world.connect('c1', '192.0.2.1');
  t.is(world.engine.exceeded.length, 1);
});

test('a central that lies: unknown clients, other machines, a million addresses, times', async (t) => {
  const world = await open();
  await using _ = world.panel;
  const guid = (await world.panel.get<{ panelGuid: string }>('/panel/api/server/status')).panelGuid;
  const one = { id: 1, ip: '198.51.100.1', guid: 'other-machine', since: 0, seen: 0 };
  t.is((await world.addresses([{ ...one, id: 99 }])).body.obj.taken, 0);
  t.is((await world.addresses([{ ...one, guid }])).body.obj.taken, 0);
  t.is((await world.addresses([one], OTHER)).status, 404);
  for (const bad of [
    { seen: -1 },
    { since: 1.5 },
    { seen: 1e16 },
    { guid: '' },
    { guid: 'x y' },
    { id: 0 },
    { ip: 'x'.repeat(65) },
  ])
    t.is((await world.addresses([{ ...one, ...bad }])).status, 400, JSON.stringify(bad));
  t.is((await world.addresses(Array.from({ length: 5_001 }, () => one))).status, 400);
  t.is((await world.panel.call(`${USAGE}?central=${CENTRAL}&presence=${'x'.repeat(65)}`)).status, 400);
  // It is not an address, or too old: nothing is stored of it.
  await world.addresses([
    { ...one, ip: 'no address' },
    { ...one, seen: 40 * 60_000 },
  ]);
  t.deepEqual(await world.panel.get('/panel/api/clients/ips/c1', { method: 'POST' }), []);
  // Many of one machine leave room for those of others.
  const ip = (i: number) => `203.0.${i >> 8}.${i & 255}`;
  await world.addresses([{ ...one, guid: 'second-machine', ip: '198.51.100.7' }]);
  await world.connect('c1', '192.0.2.1');
  await world.settle(1_000);
  for (let from = 0; from < 10_000; from += 5_000)
    await world.addresses(Array.from({ length: 5_000 }, (_, i) => ({ ...one, ip: ip(from + i) })));
  const known = await world.panel.get<{ ip: string }[]>('/panel/api/clients/ips/c1', { method: 'POST' });
  const ips = known.map((seen) => seen.ip);
  t.true(ips.includes('198.51.100.7') && ips.includes('192.0.2.1'));
  t.is(known.length, 34);
});

test('devices: only those of its clients, within the limit; what cannot be is refused', async (t) => {
  const world = await open();
  await using _ = world.panel;
  await wire(world.panel).apply(client(1, 2, { limitHwid: 2 }));
  const device = (letter: string, more: object = {}) => ({
    id: 1,
    hash: letter.repeat(64),
    isGone: false,
    seen: 1_000,
    userAgent: 'app',
    deviceOs: '',
    osVersion: '',
    deviceModel: '',
    ...more,
  });
  const told = (seen: object[], central = CENTRAL) =>
    world.panel.call<{ taken: number }>('/panel/api/x/node/devices', { body: { central, seen } });
  const known = async () =>
    (await world.panel.get<{ fingerprint: string }[]>('/panel/api/clients/hwids/c1', { method: 'POST' }))
      .map(({ fingerprint }) => fingerprint[0])
      .sort();
  const { position } = await world.told('');
  t.is((await told([device('a'), device('9', { id: 99 })])).body.obj.taken, 1);
  await told([device('b'), device('c')]);
  t.deepEqual(await known(), ['a', 'b'], 'there is no third place');
  t.deepEqual((await world.told(position)).devices, [], 'not told back');
  await told([device('a', { isGone: true }), device('f', { isGone: true })]);
  t.deepEqual(await known(), ['b']);
  t.is((await told([device('a')], OTHER)).status, 404);
  for (const bad of [{ hash: 'x' }, { seen: -1 }, { userAgent: 'x'.repeat(513) }, { id: 0 }])
    t.is((await told([device('a', bad)])).status, 400, JSON.stringify(bad));
  t.is((await told(Array.from({ length: 501 }, () => device('a')))).status, 400);
});

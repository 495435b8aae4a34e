// A node that lies about who is connected: it is believed about what this panel gave to it, and about nothing else.
import test from 'ava';
import { FakeClock } from '../../../test/harness/index.js';
import { PresenceOfNodes } from '../presence-of-nodes.js';

const OWN = 'own-guid';
/** Clients 1 and 2 are on node 7, through inbound 71; client 3 is on node 8, through inbound 81. */
const PLACES: Record<number, number[]> = { 1: [71], 2: [71, 10], 3: [81], 4: [10] };
const NODE_OF: Record<number, number | null> = { 71: 7, 81: 8, 10: null };

function made() {
  const clock = new FakeClock();
  const reports = new Map<string, { clients: number[]; inbounds: number[] }>();
  const seen: { guid: string; clientId: number; address: string; at: number; since?: number | undefined }[] =
    [];
  const problems: string[] = [];
  const devices: { readonly clientId: number }[] = [];
  const nodes = [
    { id: 7, guid: 'g7', name: 'seven' },
    { id: 8, guid: 'g8', name: 'eight' },
  ];
  const presence = new PresenceOfNodes({
    clock,
    log: { warn: (_: string, { problem }: { problem: string }) => problems.push(problem) } as never,
    nodes: { list: () => nodes as never, below: (id) => (id === 7 ? ['below-7', 'shared'] : ['shared']) },
    clients: { byId: (id) => PLACES[id] && ({ id, inboundIds: PLACES[id] } as never) },
    inbounds: { get: (id) => (id in NODE_OF ? ({ id, nodeId: NODE_OF[id] } as never) : undefined) },
    identity: { guid: OWN } as never,
    online: { onlineByGuid: () => new Map([['g7', [1, 2]]]) } as never,
    devices: {
      take: async (changes: readonly { clientId: number }[]) => void devices.push(...changes),
    } as never,
  });
  presence.presenceReporter.start({
    report: (guid, { clients, inbounds }) =>
      void reports.set(guid, { clients: [...clients].sort(), inbounds: [...inbounds] }),
  });
  presence.addressReporter.start({
    seen: async (guid, list) => void seen.push(...list.map((one) => ({ guid, ...one }))),
  });
  const [seven, eight] = nodes as never[] as [never, never];
  return { clock, presence, reports, seen, devices, problems, seven, eight };
}
const machine = (guid: string, lists: object = {}) => ({
  guid,
  online: [],
  gone: [],
  active: [],
  idle: [],
  ...lists,
});
const told = (machines: object[], addresses: object[] = [], fields: object = {}) => ({
  position: 's.1.1',
  isFull: true,
  machines,
  addresses,
  ...fields,
});

test('other people’s clients, inbounds and machines are not believed', async (t) => {
  const { presence, reports, seen, seven, eight, clock, problems } = made();
  await presence.take(eight, told([machine('g8', { online: [3], active: [81] })]));
  await presence.take(
    seven,
    told(
      [
        machine('g7', { online: [1, 3, 4, 999], active: [71, 81, 10] }),
        machine('below-7', { online: [2, 3] }),
        machine('g8', { online: [1] }),
        machine(OWN, { online: [1] }),
        machine('made-up', { online: [2] }),
      ],
      [
        { id: 1, ip: '192.0.2.1', guid: 'g7', since: 5_000, seen: 0 },
        { id: 3, ip: '192.0.2.3', guid: 'g7', since: 0, seen: 0 },
        { id: 1, ip: '192.0.2.8', guid: 'g8', since: 0, seen: 0 },
        { id: 1, ip: '192.0.2.9', guid: OWN, since: 0, seen: 0 },
        { id: 2, ip: '192.0.2.2', guid: 'below-7', since: 0, seen: 0 },
      ],
    ),
  );
  t.deepEqual(Object.fromEntries(reports), {
    g8: { clients: [3], inbounds: [81] },
    // A machine that is not known below it is the node itself.
    g7: { clients: [1, 2], inbounds: [71] },
    'below-7': { clients: [2], inbounds: [] },
  });
  const now = clock.now();
  t.deepEqual(seen, [
    { guid: 'g7', clientId: 1, address: '192.0.2.1', at: now, since: now - 5_000 },
    { guid: 'below-7', clientId: 2, address: '192.0.2.2', at: now, since: now },
  ]);
  t.deepEqual(problems, []);
});

test('devices are believed of its clients only', async (t) => {
  const { presence, devices, seven, problems } = made();
  const device = {
    hash: 'a'.repeat(64),
    seen: 1_000,
    userAgent: 'app\u0007',
    deviceOs: '',
    osVersion: '',
    deviceModel: '',
  };
  const take = (...list: object[]) => presence.take(seven, told([], [], { devices: list }));
  await take({ id: 1, ...device }, { id: 3, ...device }, { id: 4, ...device });
  t.is(devices.length, 1);
  t.like(devices[0], { clientId: 1, hash: device.hash, isGone: false, userAgent: 'app ' });
  for (const bad of [{ hash: 'x' }, { seen: -1 }, { userAgent: 'x'.repeat(513) }, { id: 1.5 }])
    await take({ id: 1, ...device, ...bad });
  await take(...Array.from({ length: 1_001 }, () => ({ id: 1, ...device })));
  t.is(problems.length, 1, 'once while it goes on');
  t.is(devices.length, 1);
});

test('what cannot be read makes nobody online, and is asked for from the beginning', async (t) => {
  const { presence, reports, seen, seven, problems } = made();
  const bad: [object, RegExp][] = [
    [{ presence: 1 }, /position must be/],
    [told([machine('g7', { online: [1, -2] })]), /online must be ids/],
    [told([machine('g7', { online: Array.from({ length: 200_001 }, () => 1) })]), /more than 200000/],
    [told([machine('<b>')]), /guid must be/],
    [told(Array.from({ length: 2_001 }, () => machine('g7'))), /machines has more than/],
    [told([], [{ id: 1, ip: '192.0.2.1', guid: 'g7', since: 0, seen: -1 }]), /since and seen/],
    [told([], [{ id: 1, ip: '192.0.2.1', guid: 'g7', since: 1e15, seen: 0 }]), /since and seen/],
    [
      told(
        [],
        Array.from({ length: 1_000_000 }, () => ({})),
      ),
      /addresses has more than/,
    ],
    [told([], [{ id: 1, ip: 'x'.repeat(65), guid: 'g7', since: 0, seen: 0 }]), /ip must be/],
  ];
  for (const [reply, expected] of bad) {
    await presence.take(seven, told([machine('g7', { online: [1] })]));
    t.deepEqual(reports.get('g7')?.clients, [1]);
    t.is(presence.position(seven), 's.1.1');
    await presence.take(seven, reply);
    t.regex(problems.at(-1) ?? '', expected);
    t.deepEqual(reports.get('g7')?.clients, []);
    t.is(presence.position(seven), '');
  }
  t.deepEqual(seen, []);
  t.is(problems.length, bad.length);
});

test('a panel below two nodes is what both tell; changes add up, and one that goes away takes only its own', async (t) => {
  const { presence, reports, seven, eight, clock } = made();
  await presence.take(seven, told([machine('shared', { online: [1, 2] })]));
  await presence.take(eight, told([machine('shared', { online: [3] })]));
  t.deepEqual(reports.get('shared')?.clients, [1, 2, 3]);
  await presence.take(
    seven,
    told([machine('shared', { gone: [1] })], [], { isFull: false, position: 's.2.1' }),
  );
  t.deepEqual(reports.get('shared')?.clients, [2, 3]);
  t.is(presence.position(seven), 's.2.1');
  // Unchanged, it is reported again before it ends, and not with every poll.
  reports.clear();
  const same = () => presence.take(seven, told([], [], { isFull: false }));
  await same();
  t.is(reports.size, 0);
  clock.tick(10_000);
  await same();
  t.deepEqual(reports.get('shared')?.clients, [2, 3]);
  presence.left(7);
  await same();
  t.deepEqual(reports.get('shared')?.clients, [3]);
  await presence.take(eight, told([]));
  t.deepEqual(reports.get('shared')?.clients, []);
});

// Runs on every database in test:full.
// What is remembered of addresses, and its routes.
import { rm } from 'node:fs/promises';
import test from 'ava';
import type { Database } from '../../../kernel/index.js';
import { FakeClock } from '../../../test/harness/index.js';
import { History } from '../history.js';
import { Sightings } from '../sightings.js';
import { World } from './world.js';

let world: World;
test.before(async () => {
  world = await World.boot();
});
test.after.always(() => world?.panel[Symbol.asyncDispose]());

interface Seen {
  readonly ip: string;
  readonly time: string;
  readonly node: string;
  readonly firstSeen: number;
  readonly lastSeen: number;
}
const guidOf = async (): Promise<string> =>
  Object.keys(await world.post<Record<string, unknown>>('clients/onlinesByGuid'))[0] ?? '';
const rowsOf = async (clientId: number): Promise<number> =>
  Number(
    (
      await world.db.query<{ count: number }>(
        'SELECT count(*) AS count FROM addresses_seen WHERE client_id = :clientId',
        { clientId },
      )
    )[0]?.count,
  );

test.serial('a client shows from where it connected, latest first, in the zone of the panel', async (t) => {
  await world.settings({ timeLocation: 'Asia/Tokyo' });
  const user = await world.client('ada');
  const first = world.clock.now();
  await world.connect(user, '198.51.100.1');
  await world.pass(60_000);
  await world.connect(user, '2001:DB8::1');
  t.deepEqual(await world.post<Seen[]>('clients/ips/ada'), [
    {
      ip: '2001:db8::1',
      time: '2026-01-15 21:01:00',
      node: '',
      firstSeen: first / 1000 + 60,
      lastSeen: first / 1000 + 60,
    },
    {
      ip: '198.51.100.1',
      time: '2026-01-15 21:00:00',
      node: '',
      firstSeen: first / 1000,
      lastSeen: first / 1000,
    },
  ]);
  t.deepEqual(await world.seen('nobody'), []);
  // Memory has forgotten it, the database has not.
  await world.pass(2_400_000);
  await world.connect(user, '198.51.100.1');
  t.like((await world.post<Seen[]>('clients/ips/ada'))[0], { ip: '198.51.100.1', firstSeen: first / 1000 });
});

test.serial('loopback, what addressesIgnored names and what is no address are not recorded', async (t) => {
  const user = await world.client('local');
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.9', 'unix', ''])
    await world.connect(user, address);
  const timestamp = Math.floor(world.clock.now() / 1000);
  await world.post('server/clientIps', [{ clientEmail: 'local', ips: [{ ip: '127.0.0.5', timestamp }] }]);
  await world.settings({ trustedProxyCIDRs: '203.0.113.77' });
  await world.connect(user, '203.0.113.77');
  await world.settings({ trustedProxyCIDRs: '' });
  t.deepEqual(await world.seen('local'), [], 'nor what another panel posts, nor a trusted proxy');
  await world.settings({ addressesIgnored: '' });
  await world.connect(user, '127.0.0.1');
  await world.settings({ addressesIgnored: '127.0.0.0/8,::1' });
  t.deepEqual(await world.seen('local'), ['127.0.0.1']);
});

test.serial(
  'is written once, then every five minutes, and survives a clear only by connecting again',
  async (t) => {
    const user = await world.client('writes');
    await world.connect(user, '198.51.100.1');
    t.is(await rowsOf(user.clientId), 0);
    await world.pass(10_000);
    t.is(await rowsOf(user.clientId), 1);
    const lastSeen = async (): Promise<number> =>
      Number(
        (
          await world.db.query<{ seen: number }>(
            'SELECT last_seen AS seen FROM addresses_seen WHERE client_id = :id',
            { id: user.clientId },
          )
        )[0]?.seen,
      );
    const written = await lastSeen();
    for (let i = 0; i < 3; i++) {
      await world.connect(user, '198.51.100.1');
      await world.pass(10_000);
    }
    t.is(await lastSeen(), written, 'unchanged');
    const last = world.clock.now() - 10_000;
    await world.pass(360_000);
    await world.pass(10_000);
    t.is(await lastSeen(), last, 'it rests');
    for (let i = 0; i < 6; i++) {
      await world.connect(user, '198.51.100.1');
      await world.pass(60_000);
    }
    t.true((await lastSeen()) > last, 'it never rests');

    await world.connect(user, '198.51.100.9');
    await world.post('clients/clearIps/writes');
    t.is(await rowsOf(user.clientId), 0);
    await world.pass(10_000);
    t.is(await rowsOf(user.clientId), 0, 'what waited to be written is forgotten as well');
    t.deepEqual(await world.seen('writes'), []);
    await world.post('clients/clearIps/nobody');
    await world.connect(user, '198.51.100.2');
    t.deepEqual(await world.seen('writes'), ['198.51.100.2']);
  },
);

test.serial(
  'a deleted client takes its addresses along, also those that were about to be written',
  async (t) => {
    const user = await world.client('gone');
    await world.connect(user, '198.51.100.1');
    await world.pass(10_000);
    await world.connect(user, '198.51.100.2');
    await world.post('clients/del/gone');
    await world.pass(10_000);
    t.is(await rowsOf(user.clientId), 0);
    await world.connect(user, '198.51.100.3');
    await world.pass(10_000);
    t.is(await rowsOf(user.clientId), 0, 'a late line of its log');
    t.deepEqual(world.panel.faults, []);
  },
);

test.serial('of one client the newest hundred rows stay, and none for longer than addressDays', async (t) => {
  const user = await world.client('many');
  for (let i = 0; i < 130; i++) {
    await world.connect(user, `203.0.${i}.1`);
    await world.pass(i % 50 === 49 ? 10_000 : 1);
  }
  await world.pass(10_000);
  t.is(await rowsOf(user.clientId), 100);
  t.is((await world.seen('many'))[0], '203.0.129.1');
  await world.pass(86_400_000);
  await world.panel.login();
  await world.connect(user, '198.51.100.1');
  await world.pass(10_000);
  await world.settings({ addressDays: 1 });
  t.deepEqual(await world.seen('many'), ['198.51.100.1'], 'older rows are not shown, deleted or not');
  await world.pass(3_600_000);
  t.is(await rowsOf(user.clientId), 1);
  t.deepEqual(await world.seen('many'), ['198.51.100.1']);
  await world.settings({ addressDays: 30 });
});

test.serial(
  'other panels read the last half hour, and post theirs; what they read comes back as no news',
  async (t) => {
    const user = await world.client('shared');
    // The wire has seconds.
    world.clock.tick(1000 - (world.clock.now() % 1000));
    const now = world.clock.now() / 1000;
    await world.connect(user, '198.51.100.1');
    const guid = await guidOf();
    const list = () =>
      world.panel.get<{ id: number; clientEmail: string; ips: unknown }[]>('/panel/api/server/clientIps');
    const own = (rows: { clientEmail: string }[]) => rows.find(({ clientEmail }) => clientEmail === 'shared');
    const mine = { ip: '198.51.100.1', timestamp: now };
    t.deepEqual(own(await list()), { id: user.clientId, clientEmail: 'shared', ips: [mine] });

    await world.post('server/clientIps', [
      {
        clientEmail: 'shared',
        ips: [mine, { ip: '192.0.2.1', timestamp: now - 100 }, { ip: '192.0.2.9', timestamp: now - 1801 }],
      },
      {
        clientEmail: 'shared',
        ips: JSON.stringify([{ ip: '192.0.2.2', timestamp: now + 9_999_999, country: 'x' }]),
        panelGuid: 'far-away',
      },
      { clientEmail: 'unknown', ips: [mine] },
      { clientEmail: '', ips: null },
      { clientEmail: 'shared', ips: [{ ip: '192.0.2.3', timestamp: now }], panelGuid: guid },
    ]);
    t.deepEqual(own(await list()), {
      id: user.clientId,
      clientEmail: 'shared',
      ips: [mine, { ip: '192.0.2.2', timestamp: now }, { ip: '192.0.2.1', timestamp: now - 100 }],
    });
    t.is(await rowsOf(user.clientId), 4, 'what is acknowledged is stored, before the job runs');
    const byGuid = await world.post<Record<string, Record<string, unknown>>>('clients/clientIpsByGuid');
    t.deepEqual(byGuid[guid]?.['shared'], [mine]);
    t.false('elsewhere' in byGuid);
    t.deepEqual(byGuid['far-away'], { shared: [{ ip: '192.0.2.2', timestamp: now }] });
    const seen = await world.post<Seen[]>('clients/ips/shared');
    t.deepEqual(
      seen.map(({ ip, node }) => [ip, node]),
      [
        ['198.51.100.1', ''],
        ['192.0.2.2', 'far-away'],
        ['192.0.2.1', 'elsewhere'],
      ],
    );
  },
);

test.serial('refuses what is no list of addresses, names the place and takes nothing in', async (t) => {
  await world.client('strict');
  const good = { ip: '192.0.2.1', timestamp: 1 };
  const bad: [unknown, RegExp][] = [
    [{}, /array/],
    [[{ clientEmail: 'strict', ips: 'nonsense' }], /ips/],
    [[{ clientEmail: 'strict', ips: ' '.repeat(100_001) }], /ips/],
    [[{ clientEmail: 'strict', ips: '[{"ip":"192.0.2.1"}]' }], /timestamp/],
    [[{ clientEmail: 'strict', ips: 7 }], /ips/],
    [[{ clientEmail: 'strict', ips: [{ ip: 'x; DROP TABLE clients', timestamp: 1 }] }], /ips/],
    [[{ clientEmail: 'strict', ips: [{ ip: '192.0.2.1', timestamp: -1 }] }], /ips/],
    [[{ clientEmail: 'strict', ips: Array(1001).fill(good) }], /ips/],
    // Counted before any of them is looked at: 50,000 of them took seconds.
    [
      [{ clientEmail: 'strict', ips: Array(1001).fill(0) }],
      /\[0\]\.ips must contain less than or equal to 1000/,
    ],
    [
      [{ clientEmail: 'strict', ips: JSON.stringify(Array(1001).fill(0)) }],
      /\[0\]\.ips: .*must contain less than or equal to 1000/,
    ],
    [[{ clientEmail: 7, ips: [] }], /clientEmail/],
    [[{ clientEmail: 'strict', ips: [], panelGuid: "'; --" }], /panelGuid/],
    [Array(10_001).fill({ clientEmail: 'strict', ips: [] }), /10000/],
  ];
  for (const [body, names] of bad) {
    const answer = await world.panel.call('/panel/api/server/clientIps', { body });
    t.is(answer.status, 400, answer.text.slice(0, 300));
    t.regex(answer.text, names);
  }
  t.deepEqual(await world.seen('strict'), []);
});

test.serial('a restart knows what was seen, and who holds a place', async (t) => {
  const user = await world.client('stays', { limitIp: 1 });
  await world.connect(user, '198.51.100.1');
  await world.pass(10_000);
  await world.connect(user, '198.51.100.1');
  const last = Math.floor(world.clock.now() / 1000);
  await world.pass(1000);
  const { dataDirectory } = world.panel;
  await world.panel.stop();
  const inboundId = world.inboundId;
  world = await World.boot({ dataDirectory, clock: world.clock });
  world.inboundId = inboundId;
  t.deepEqual(await world.seen('stays'), ['198.51.100.1']);
  t.is((await world.post<Seen[]>('clients/ips/stays'))[0]?.lastSeen, last, 'the stop writes the time');
  await world.connect(user, '198.51.100.2');
  t.deepEqual(
    world.closed.map(({ address }) => address),
    ['198.51.100.2'],
  );
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
});

test.serial('an adopted core shows earlier lines: they are not from now', async (t) => {
  const user = await world.client('earlier', { limitIp: 1 });
  await world.connect(user, '198.51.100.1', world.clock.now() - 3_600_000);
  t.deepEqual(await world.seen('earlier'), []);
  await world.connect(user, '198.51.100.2', world.clock.now() - 600_000);
  world.leave('198.51.100.2');
  await world.connect(user, '198.51.100.3');
  t.deepEqual(await world.seen('earlier'), ['198.51.100.3', '198.51.100.2']);
});

test('a failed write hands all of it to the next one', async (t) => {
  const clock = new FakeClock();
  const sightings = new Sightings({ clock });
  for (let id = 1; id <= 12_000; id++) sightings.note(id, '198.51.100.1', clock.now());
  let left = 1;
  const db = {
    write: async () => {
      if (left-- === 0) throw new Error('the disk is full');
    },
  } as unknown as Database;
  const settings = { read: () => ({ addressDays: 30 }) } as never;
  const history = new History({ db, clock, settings, sightings });
  await t.throwsAsync(history.flush(), { message: 'the disk is full' });
  t.is(sightings.takeUnwritten().length, 7_000, 'the first 5,000 are written');
});

test('memory is bounded: 64 networks of a client, 100,000 clients; the oldest go', (t) => {
  const clock = new FakeClock();
  const sightings = new Sightings({ clock });
  for (let i = 0; i <= 64; i++) {
    clock.tick(1);
    sightings.note(1, `203.0.113.${i}`, clock.now());
  }
  t.is(sightings.of(1).length, 64);
  t.is(sightings.of(1)[0]?.address, '203.0.113.1');
  for (let id = 2; id <= 100_001; id++) sightings.note(id, '198.51.100.1', clock.now());
  t.deepEqual([sightings.of(1).length, [...sightings.clients()].length], [0, 100_000]);
});

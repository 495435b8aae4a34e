// limitIp: who is over it, who is told and what is closed. One panel, each test with its own clients.
import test from 'ava';
import { World } from './world.js';

let world: World;
test.before(async () => {
  world = await World.boot();
});
test.after.always(() => world?.panel[Symbol.asyncDispose]());
test.beforeEach(() => {
  world.open = [];
  world.closed.length = 0;
  world.exceeded.length = 0;
});
const closed = () => world.closed.map(({ address }) => address);
const exceeded = () =>
  world.exceeded.map(({ email, kept, over }) => ({ email, kept, over: over.map(({ ip }) => ip) }));

test.serial(
  'the second address of a client with limitIp 1 is reported and closed, the first goes on',
  async (t) => {
    const user = await world.client('one', { limitIp: 1 });
    await world.connect(user, '198.51.100.1');
    t.deepEqual(exceeded(), []);
    await world.connect(user, '198.51.100.2');
    t.deepEqual(
      exceeded(),
      [{ email: 'one', kept: ['198.51.100.1'], over: ['198.51.100.2'] }],
      'its first sighting',
    );
    t.deepEqual(closed(), ['198.51.100.2']);
    t.deepEqual(
      world.open.map(({ address }) => address),
      ['198.51.100.1'],
    );
  },
);

test.serial('a client without a limit, and others behind the same address, are left alone', async (t) => {
  const limited = await world.client('limited', { limitIp: 1 });
  const free = await world.client('free');
  for (const address of ['198.51.100.1', '198.51.100.2', '198.51.100.3']) await world.connect(free, address);
  t.deepEqual(closed(), []);
  await world.connect(limited, '198.51.100.1');
  await world.connect(limited, '198.51.100.2');
  t.deepEqual(
    world.closed.map(({ clientId }) => clientId),
    [limited.clientId],
  );
});

test.serial('it is closed on every inbound of the client, however often it comes back', async (t) => {
  const user = await world.client('everywhere', { limitIp: 1 });
  const second = await world.panel.addInbound();
  await world.panel.get(`/panel/api/clients/everywhere/attach`, { body: { inboundIds: [second] } });
  await world.connect(user, '198.51.100.1');
  world.open.push({ ...user, inboundId: second, address: '198.51.100.2', key: 'other inbound' });
  await world.connect(user, '198.51.100.2');
  t.deepEqual(world.closed.map(({ inboundId }) => inboundId).sort(), [user.inboundId, second].sort());
  await world.connect(user, '198.51.100.2');
  t.is(closed().length, 3);
});

test.serial(
  'an address is reported again only when it connects again, and not before ten seconds',
  async (t) => {
    const user = await world.client('again', { limitIp: 1 });
    await world.connect(user, '198.51.100.1');
    await world.connect(user, '198.51.100.2');
    await world.connect(user, '198.51.100.2');
    await world.pass(9_000);
    await world.connect(user, '198.51.100.1');
    t.is(exceeded().length, 1);
    await world.pass(1_000);
    await world.connect(user, '198.51.100.1');
    t.is(exceeded().length, 1, 'only the address within the limit connected');
    await world.connect(user, '198.51.100.2');
    t.is(exceeded().length, 2);
  },
);

test.serial(
  'an address that ended keeps its place for two minutes, an open one as long as it is open',
  async (t) => {
    const user = await world.client('place', { limitIp: 1 });
    await world.connect(user, '198.51.100.1');
    await world.pass(200_000);
    await world.connect(user, '198.51.100.2');
    t.deepEqual(closed(), ['198.51.100.2'], 'the first is still open');
    world.leave('198.51.100.1');
    await world.connect(user, '198.51.100.2');
    t.is(closed().length, 2, 'it ended a moment ago');
    await world.pass(121_000);
    await world.connect(user, '198.51.100.2');
    t.is(closed().length, 2);
    await world.pass(1000);
    await world.connect(user, '198.51.100.1');
    t.deepEqual(closed().slice(2), ['198.51.100.1'], 'now the other has the place');
  },
);

test.serial('IPv6 counts by /64: a phone with privacy addresses is one address', async (t) => {
  const user = await world.client('phone', { limitIp: 1 });
  for (const address of ['2001:db8:0:7::1', '2001:db8:0:7:aaaa:bbbb:cccc:dddd', '2001:DB8:0:7::2'])
    await world.connect(user, address);
  t.deepEqual(closed(), []);
  t.deepEqual(await world.seen('phone'), ['2001:db8:0:7::2']);
  await world.connect(user, '2001:db8:0:8::1');
  t.deepEqual(closed(), ['2001:db8:0:8::1']);
});

test.serial(
  'addresses of ipLimitAllowlist are neither counted nor closed, also written as IPv4 within IPv6',
  async (t) => {
    await world.settings({ ipLimitAllowlist: '203.0.113.0/24, ::ffff:192.0.2.0/120' });
    t.teardown(() => world.settings({ ipLimitAllowlist: '' }));
    const user = await world.client('allowed', { limitIp: 1 });
    await world.connect(user, '203.0.113.9');
    await world.connect(user, '192.0.2.9');
    await world.connect(user, '::ffff:192.0.2.10');
    await world.connect(user, '198.51.100.1');
    t.deepEqual(closed(), []);
    await world.connect(user, '198.51.100.2');
    t.deepEqual(closed(), ['198.51.100.2']);
    t.deepEqual(exceeded(), [{ email: 'allowed', kept: ['198.51.100.1'], over: ['198.51.100.2'] }]);
  },
);

test.serial(
  'ipLimitCut: oldest closes the first address, none closes nothing and still reports',
  async (t) => {
    t.teardown(() => world.settings({ ipLimitCut: 'newest' }));
    const user = await world.client('which', { limitIp: 1 });
    await world.settings({ ipLimitCut: 'none' });
    await world.connect(user, '198.51.100.1');
    await world.pass(1000);
    await world.connect(user, '198.51.100.2');
    t.deepEqual([closed(), exceeded().length], [[], 1]);
    await world.settings({ ipLimitCut: 'oldest' });
    await world.connect(user, '198.51.100.2');
    t.deepEqual(closed(), ['198.51.100.1']);
  },
);

test.serial(
  'what another panel saw within two minutes takes a place; what it saw before does not',
  async (t) => {
    const user = await world.client('roams', { limitIp: 1 });
    const now = world.clock.now() / 1000;
    const post = (ip: string, timestamp: number) =>
      world.post('server/clientIps', [{ clientEmail: 'roams', ips: [{ ip, timestamp }] }]);
    await post('192.0.2.1', now - 200);
    await world.connect(user, '198.51.100.1', world.clock.now() - 5000);
    t.deepEqual(closed(), []);
    await post('192.0.2.2', now - 60);
    await world.settled();
    t.deepEqual(closed(), ['198.51.100.1']);
  },
);

test.serial('who came last at another panel is left to that panel', async (t) => {
  const user = await world.client('abroad', { limitIp: 1 });
  await world.connect(user, '198.51.100.1');
  await world.pass(2000);
  const timestamp = Math.floor(world.clock.now() / 1000);
  await world.post('server/clientIps', [{ clientEmail: 'abroad', ips: [{ ip: '192.0.2.3', timestamp }] }]);
  await world.settled();
  t.deepEqual([closed(), exceeded()], [[], []]);
});

test.serial('an open connection of another client holds no place', async (t) => {
  const [user, other] = [
    await world.client('apart1', { limitIp: 1 }),
    await world.client('apart2', { limitIp: 1 }),
  ];
  await world.connect(user, '198.51.100.1');
  world.leave('198.51.100.1');
  await world.connect(other, '198.51.100.1');
  await world.pass(122_000);
  await world.connect(user, '198.51.100.2');
  await world.pass(2000);
  const ips = [{ ip: '192.0.2.4', timestamp: Math.floor(world.clock.now() / 1000) }];
  // One check of both.
  await world.post('server/clientIps', [
    { clientEmail: 'apart1', ips },
    { clientEmail: 'apart2', ips },
  ]);
  await world.settled();
  t.deepEqual(closed(), []);
});

test.serial('late lines of a client that was disabled are not reported', async (t) => {
  const user = await world.client('disabled', { limitIp: 1, enable: false });
  await world.connect(user, '198.51.100.1');
  await world.connect(user, '198.51.100.2');
  t.deepEqual([closed(), exceeded()], [[], []]);
});

test.serial('a raised limit acts at once', async (t) => {
  const user = await world.client('raised', { limitIp: 1 });
  await world.connect(user, '198.51.100.1');
  await world.panel.get('/panel/api/clients/update/raised', { body: { limitIp: 2 } });
  await world.connect(user, '198.51.100.2');
  t.deepEqual(closed(), []);
  await world.connect(user, '198.51.100.3');
  t.deepEqual(closed(), ['198.51.100.3']);
});

test.serial(
  'refuses a list with what is not a network, by the name of the setting and the entry',
  async (t) => {
    for (const entry of [
      'nonsense',
      '10.0.0.0/33',
      '::1/129',
      '10.0.0.0/-1',
      'fe80::1%eth0',
      '::ffff:1.2.3.4/20',
    ]) {
      const answer = await world.panel.call('/panel/api/setting/update', {
        body: { ipLimitAllowlist: `192.0.2.1,${entry}` },
      });
      t.is(answer.status, 400, entry);
      t.regex(answer.text, /ipLimitAllowlist/);
      t.true(answer.text.includes(entry), answer.text);
    }
  },
);

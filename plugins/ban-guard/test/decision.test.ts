// Who is banned: as few as possible, and nobody else.
import test from 'ava';
import { decide, type OverLimit, type Surroundings } from '../decision.js';

const NOW = 1_000_000;
const nobody: Surroundings = {
  protection: () => '',
  sharedWith: () => [],
  bannedUntil: () => 0,
};
const client = (over: readonly string[], more: Partial<OverLimit> = {}): OverLimit => ({
  id: 7,
  email: 'ann',
  kept: ['198.51.100.9'],
  over: over.map((ip) => ({ ip, lastSeen: NOW - 1000, isPeer: true })),
  isForgeable: false,
  ...more,
});
const run = (clients: readonly OverLimit[], around: Partial<Surroundings> = {}) => {
  const { bans, spared } = decide(clients, { ...nobody, ...around });
  return {
    bans: bans.map(({ address }) => address),
    spared: spared.map(({ address, reason }) => `${address} ${reason}`),
  };
};

test('every address over the limit is banned, and none within it', (t) => {
  t.deepEqual(run([client(['198.51.100.1', '198.51.100.2'])]), {
    bans: ['198.51.100.1', '198.51.100.2'],
    spared: [],
  });
  t.deepEqual(run([client([])]).bans, []);
});

test('of IPv6 the /64 is banned, once; of a mapped address the IPv4 one', (t) => {
  t.deepEqual(run([client(['2001:DB8:0:7::1', '2001:db8:0:7:aaaa::2', '::ffff:192.0.2.1'])]).bans, [
    '2001:db8:0:7::',
    '192.0.2.1',
  ]);
  t.deepEqual(
    run([client(['2001:db8:0:7::1'], { kept: ['2001:db8:0:7::2'] })]),
    { bans: [], spared: [] },
    'the network is within the limit',
  );
});

test('what is no address is ignored', (t) => {
  t.deepEqual(run([client(['', 'example.org', '1.2.3', '198.51.100.1/24', '198.51.100.1\n'])]), {
    bans: [],
    spared: [],
  });
});

test('protected addresses are spared', (t) => {
  for (const reason of ['private', 'listed', 'admin'] as const)
    t.deepEqual(
      run([client(['198.51.100.1', '198.51.100.2'])], {
        protection: (address) => (address === '198.51.100.1' ? reason : ''),
      }),
      { bans: ['198.51.100.2'], spared: [`198.51.100.1 ${reason}`] },
    );
});

test('an address of several clients is spared, and they are named', (t) => {
  const { bans, spared } = decide([client(['198.51.100.1'])], {
    ...nobody,
    sharedWith: (address, id) => (address === '198.51.100.1' && id === 7 ? ['ben', 'cat'] : []),
  });
  t.deepEqual(bans, []);
  t.deepEqual(spared, [
    { clientId: 7, email: 'ann', address: '198.51.100.1', reason: 'shared', sharedWith: ['ben', 'cat'] },
  ]);
});

test('an address that only a header claims, or that a packet can forge, is spared', (t) => {
  const over = [{ ip: '198.51.100.1', lastSeen: NOW, isPeer: false }];
  t.deepEqual(run([client([], { over })]).spared, ['198.51.100.1 claimed']);
  t.deepEqual(run([client(['198.51.100.1'], { isForgeable: true })]).spared, ['198.51.100.1 claimed']);
});

test('an address is banned again only when it was seen after the last ban', (t) => {
  const seen = (lastSeen: number, until: number) =>
    run([client([], { over: [{ ip: '198.51.100.1', lastSeen, isPeer: true }] })], {
      bannedUntil: () => until,
    });
  t.deepEqual(seen(NOW, NOW + 60_000), { bans: [], spared: [] }, 'it is banned now');
  t.deepEqual(seen(NOW - 5000, NOW - 5000), { bans: [], spared: [] }, 'seen before the end');
  t.deepEqual(seen(NOW - 4999, NOW - 5000).bans, ['198.51.100.1']);
});

test('clients are decided on one by one, and an address is banned once', (t) => {
  const { bans, spared } = decide(
    [client(['198.51.100.1']), client(['198.51.100.1', '198.51.100.3'], { id: 8, email: 'ben' })],
    nobody,
  );
  t.deepEqual(
    bans.map(({ email, address }) => `${email} ${address}`),
    ['ann 198.51.100.1', 'ben 198.51.100.3'],
  );
  t.deepEqual(spared, []);
});

test('a decision about 10,000 clients is quick', (t) => {
  const many = Array.from({ length: 10_000 }, (_, i) =>
    client([`203.${i >> 8}.${i & 255}.1`, `203.${i >> 8}.${i & 255}.2`], { id: i, email: `c${i}` }),
  );
  const began = performance.now();
  t.is(run(many).bans.length, 20_000);
  t.true(performance.now() - began < 1000);
});

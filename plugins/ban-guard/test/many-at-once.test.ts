// However many clients share an address, replies and memory stay small; and what is left out is logged.
import test from 'ava';
import { FakeClock } from '../../../test/harness/index.js';
import { LimitBans } from '../limit-bans.js';
import { LoginBans } from '../login-bans.js';
import { SparedAddresses } from '../spared.js';

const CLIENTS = 5000;
const ADDRESS = '198.51.100.1';

test('an address that thousands of clients share is looked up once, and 20 of them are named', async (t) => {
  let lookUps = 0;
  const log = { info: () => undefined, warn: () => undefined } as never;
  const spared = new SparedAddresses({ log, clock: new FakeClock() });
  const bans = new LimitBans({
    log,
    settings: { read: () => ({ banGuardLimitIp: true, banGuardMinutes: 30 }) } as never,
    clientAddresses: {
      at: () => {
        lookUps++;
        return Array.from({ length: CLIENTS }, (_, clientId) => ({ clientId, lastSeen: 1 }));
      },
    } as never,
    clients: { byId: (id) => ({ id, email: `c${id}`, enable: id !== 1, inboundIds: [] }) as never },
    inbounds: { get: () => undefined },
    connections: undefined,
    store: { room: 10, get: () => undefined, add: async () => [] } as never,
    enforcer: { isWorking: true, driver: 'recording' } as never,
    protection: { now: () => () => '' } as never,
    spared,
  });
  const over = [{ ip: ADDRESS, lastSeen: 2, isPeer: true }];
  await bans.exceeded(Array.from({ length: 500 }, (_, id) => ({ id, email: `c${id}`, kept: [], over })));
  t.is(lookUps, 1);
  const [last, ...others] = spared.list();
  t.is(others.length, 499);
  t.is(last?.sharedWith.length, 20);
  const first = others.at(-1);
  t.deepEqual(first?.sharedWith.slice(0, 2), ['c2', 'c3'], 'neither itself nor one that is disabled');
  t.is(first?.sharedWith.length, 20);
});

function logins(room: number) {
  const clock = new FakeClock();
  const [warned, added]: string[][] = [[], []];
  const bans = new LoginBans({
    log: { info: () => undefined, warn: (message: string) => void warned?.push(message) } as never,
    clock,
    settings: { read: () => ({ banGuardLoginFailures: 3, banGuardLoginMinutes: 5 }) } as never,
    store: {
      room,
      isBanned: () => false,
      add: async (all: readonly { address: string }[]) => all.map(({ address }) => added?.push(address)),
    } as never,
    enforcer: { isWorking: true, driver: 'recording', carryOut: async () => undefined } as never,
    protection: { of: () => '' } as never,
  });
  const fail = (times: number) =>
    bans.attempted(Array.from({ length: times }, () => ({ ip: ADDRESS, ok: false })));
  return { clock, bans, fail, warned, added };
}

test('where no more can be banned, the log says that an address goes on guessing', async (t) => {
  const { fail, warned, added } = logins(0);
  await fail(3);
  t.deepEqual(added, []);
  t.is(warned?.length, 1);
});

test('a clock that is set back does not add up failures of days', async (t) => {
  const { clock, fail, added } = logins(10);
  await fail(2);
  clock.tick(-86_400_000);
  await fail(2);
  t.deepEqual(added, []);
  await fail(1);
  t.deepEqual(added, [ADDRESS]);
});

test('a login that succeeds ends the count', async (t) => {
  const { bans, fail, added } = logins(10);
  await fail(2);
  await bans.attempted([{ ip: ADDRESS, ok: true }]);
  await fail(2);
  t.deepEqual(added, []);
});

test('of spared addresses the latest thousand are known', (t) => {
  const clock = new FakeClock();
  const logged: string[] = [];
  const log = { info: (message: string) => void logged.push(message) } as never;
  const spared = new SparedAddresses({ log, clock });
  const one = (clientId: number) => ({
    clientId,
    email: `c${clientId}`,
    address: ADDRESS,
    reason: 'claimed' as const,
    sharedWith: [],
  });
  for (let id = 1; id <= 1200; id++) spared.add([one(id)]);
  t.is(spared.list().length, 1000);
  t.is(spared.list()[0]?.clientId, 1200);
  spared.add([one(1200)]);
  t.is(logged.length, 1200, 'each is logged once in an hour');
  clock.tick(3_600_001);
  spared.add([one(1200)]);
  t.is(logged.length, 1201);
});

test('failures of 10,000 addresses are counted, those that began first are forgotten', async (t) => {
  const { bans, fail, added } = logins(10);
  await fail(2);
  const others = Array.from({ length: 10_000 }, (_, i) => ({ ip: `203.${i >> 8}.${i & 255}.1`, ok: false }));
  await bans.attempted(others);
  await fail(1);
  t.deepEqual(added, []);
  await fail(2);
  t.deepEqual(added, [ADDRESS]);
});

// Runs on every database in test:full.
// What this plugin keeps in memory is what the database holds, whatever happened on the way.
import test from 'ava';
import type { Database, Principal, RequestInfo } from '../../../kernel/index.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import { DEVICE_COOKIE, type DeviceCookie } from '../device-cookie.js';
import access from '../index.js';
import type { KnownAddresses } from '../known-addresses.js';
import type { Tokens } from '../tokens.js';
import { random as seeded } from '../../../test/harness/random.js';

interface Services {
  readonly db: Database;
  readonly tokens: Tokens;
  readonly addresses: KnownAddresses;
  readonly devices: DeviceCookie;
}
const WHO: Principal = { kind: 'command', name: 'test' };
const DAY_MS = 86_400_000;

/** Time that moves without running jobs: a year of them would take minutes. */
class JobFreeClock {
  #now = Date.UTC(2026, 0, 15, 12);
  now(): number {
    return this.#now;
  }
  every(): () => void {
    return () => undefined;
  }
  tick(ms: number): void {
    this.#now += ms;
  }
}

async function boot() {
  const clock = new JobFreeClock();
  const observed = servicesOf<Services>(access);
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, observed.plugin], clock });
  return { panel, clock, ...observed.services };
}

/** The same numbers for the same seed. */
const sorted = <T>(map: ReadonlyMap<string, T>): [string, T][] =>
  [...map].sort(([a], [b]) => (a < b ? -1 : 1));

test('after two thousand random edits, tokens in memory equal the database', async (t) => {
  const { panel, clock, db, tokens } = await boot();
  await using _ = panel;
  const { below: random } = seeded(11);
  const texts: string[] = [];
  const edit = async (): Promise<void> => {
    const ids = tokens.list().map(({ id }) => id);
    const id = ids[random(ids.length + 1)] ?? 0;
    const kind = random(20);
    if (kind < 5 && ids.length < 40)
      texts.push(
        (await tokens.create({ name: `t${random(60)}`, expiresAt: random(2) && clock.now() + 1e9 }, WHO))
          .token,
      );
    else if (kind < 8) await tokens.delete(id, WHO);
    else if (kind < 13) await tokens.setEnabled(id, random(2) === 0, WHO);
    else if (kind < 15) await tokens.flush();
    else if (kind === 15)
      await db.write(async (tx) => {
        await tokens.disableAll(tx, WHO);
        if (random(2) === 0) throw new Error('rolled back');
      });
    else for (const text of texts.slice(-30)) tokens.use(text);
  };
  let refused = 0;
  for (let round = 0; round < 200; round++) {
    clock.tick(30_000);
    // Side by side: names that are taken and tokens that are gone are refused.
    const edits = await Promise.allSettled(Array.from({ length: 10 }, edit));
    refused += edits.filter(({ status }) => status === 'rejected').length;
  }
  t.true(refused > 0);
  t.true(texts.length > 50, `${texts.length} were created`);
  await tokens.flush();
  const { state } = tokens.projection;
  t.true(state.size > 0);
  t.true([...state.values()].some(({ lastUsedAt }) => lastUsedAt > 0));
  t.deepEqual(sorted(state), sorted(await tokens.projection.fresh()));
  t.deepEqual(
    tokens.list().map(({ id }) => id),
    [...(await tokens.projection.fresh()).values()].map(({ id }) => id),
    'in the same order',
  );
});

test('writes a failed last use with the next ones', async (t) => {
  const { panel, clock, db, tokens } = await boot();
  await using _ = panel;
  const { token } = await tokens.create({ name: 'ci', expiresAt: 0 }, WHO);
  tokens.use(token);
  const write = db.write.bind(db);
  db.write = () => Promise.reject(new Error('the disk is full'));
  await t.throwsAsync(tokens.flush(), { message: 'the disk is full' });
  db.write = write;
  await tokens.flush();
  const [row] = (await tokens.projection.fresh()).values();
  t.is(row?.lastUsedAt, clock.now() / 1000);
});

test('remembers at most a thousand addresses; drops the oldest login first', async (t) => {
  const { panel, clock, db, addresses } = await boot();
  await using _ = panel;
  await db.write((tx) => addresses.forget(tx));
  t.is(addresses.projection.state.size, 0);
  for (let i = 0; i < 1001; i++) {
    clock.tick(1);
    await addresses.remember(`10.0.${i >> 8}.${i & 255}`);
  }
  t.is(addresses.projection.state.size, 1000);
  t.false(addresses.has('10.0.0.0'));
  t.true(addresses.has('10.0.3.232'));
  clock.tick(DAY_MS - 1);
  await addresses.remember('10.0.3.232');
  t.is(addresses.projection.state.get('10.0.3.232'), clock.now() - DAY_MS + 1, 'one write a day');
  clock.tick(1);
  await addresses.remember('10.0.3.232');
  t.is(addresses.projection.state.get('10.0.3.232'), clock.now());
  // Two thousand logins of a few hundred networks, old and new, side by side.
  const { below: random } = seeded(5);
  for (let round = 0; round < 100; round++) {
    clock.tick(DAY_MS / 8);
    await Promise.all(
      Array.from({ length: 20 }, () =>
        addresses.remember(
          random(2) === 0 ? `10.0.${random(4)}.${random(200)}` : `2001:db8:${random(90)}::1`,
        ),
      ),
    );
  }
  t.true(addresses.projection.state.size <= 1000);
  t.deepEqual(sorted(addresses.projection.state), sorted(await addresses.projection.fresh()));
});

test('an address is known for 180 days after a login, and a device for 365', async (t) => {
  const { panel, clock, db, devices, addresses } = await boot();
  await using _ = panel;
  await addresses.remember('192.0.2.1');
  const cookies: Record<string, string> = {};
  const reply = { cookie: (name: string, value: string) => void (cookies[name] = value) };
  devices.set({ cookies: {}, reply: reply as unknown as RequestInfo['reply'] });
  const id = devices.idOf(cookies);
  t.is(cookies[DEVICE_COOKIE]?.split('.')[0], id);
  clock.tick(180 * DAY_MS - 1);
  t.true(addresses.has('192.0.2.1'));
  clock.tick(1);
  t.false(addresses.has('192.0.2.1'));
  clock.tick(185 * DAY_MS - 1);
  t.is(devices.idOf(cookies), id);
  clock.tick(1);
  t.is(devices.idOf(cookies), undefined);
  devices.set({ cookies: {}, reply: reply as unknown as RequestInfo['reply'] });
  await db.write((tx) => devices.replaceKey(tx));
  t.is(devices.idOf(cookies), undefined, 'another key makes every device unknown');
  t.deepEqual(devices.projection.state, await devices.projection.fresh());
  await t.throwsAsync(
    db.write(async (tx) => {
      await devices.replaceKey(tx);
      throw new Error('rolled back');
    }),
  );
  t.deepEqual(devices.projection.state, await devices.projection.fresh());
});

test('of the tokens that are disabled together, those that were enabled are counted', async (t) => {
  const { panel, db, tokens } = await boot();
  await using _ = panel;
  const [first] = [
    await tokens.create({ name: 'a', expiresAt: 0 }, WHO),
    await tokens.create({ name: 'b', expiresAt: 0 }, WHO),
  ];
  await tokens.setEnabled(first.id, false, WHO);
  t.is(await db.write((tx) => tokens.disableAll(tx, WHO)), 1);
  t.is(await db.write((tx) => tokens.disableAll(tx, WHO)), 0);
});

// The parts of the limits against guessing: networks, blocks, the throttle of a name, the queue of password checks.
import { hash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { Attempts, type Guesser } from '../attempts.js';
import type { BlockStore, StoredBlock } from '../block-store.js';
import type { DeviceCookie } from '../device-cookie.js';
import { errors } from '../errors.js';
import type { KnownAddresses } from '../known-addresses.js';
import { LoginLimits } from '../login-limits.js';
import { NameThrottle } from '../name-throttle.js';
import { networksOf } from '../networks.js';
import { PasswordQueue } from '../password-queue.js';

const MINUTE = 60_000;

/** Waits on the fake clock: `advance` ends those waits that are over by then. */
class TimedAttempts extends Attempts {
  readonly clock: FakeClock;
  readonly limits: LoginLimits;
  readonly delays: number[] = [];
  #waiting: { readonly until: number; readonly done: () => void }[] = [];

  constructor(clock: FakeClock, known: readonly string[] = [], stored: readonly StoredBlock[] = []) {
    const blocks = {
      load: async () => stored,
      add: () => undefined,
      flush: async () => undefined,
      clear: async () => undefined,
    } as unknown as BlockStore;
    const limits = new LoginLimits({ clock, blocks });
    super({
      limits,
      throttle: new NameThrottle({ clock }),
      addresses: { has: (ip: string) => known.includes(ip) } as KnownAddresses,
      devices: {
        idOf: (cookies: Record<string, string>) => cookies['weir_device'],
      } as unknown as DeviceCookie,
    });
    this.clock = clock;
    this.limits = limits;
  }

  protected override wait(ms: number): Promise<void> {
    this.delays.push(ms);
    return new Promise((done) => this.#waiting.push({ until: this.clock.now() + ms, done }));
  }

  async advance(ms: number): Promise<void> {
    this.clock.tick(ms);
    const over = this.#waiting.filter(({ until }) => until <= this.clock.now());
    this.#waiting = this.#waiting.filter((waiting) => !over.includes(waiting));
    for (const { done } of over) done();
    await turn();
  }

  /** A wrong password; resolves with 401 when it was checked, else with the seconds of `Retry-After`. */
  guess(ip: string, more: Partial<Guesser> = {}): Promise<number> {
    return this.run({ ip, username: 'admin', ...more }, async () => {
      throw errors.WRONG_LOGIN();
    }).catch((error: { status: number; headers: Record<string, string> }) =>
      error.status === 429 ? Number(error.headers['Retry-After']) : error.status,
    );
  }
  login(ip: string, more: Partial<Guesser> = {}): Promise<string> {
    return this.run({ ip, username: 'admin', ...more }, async () => 'in');
  }
}
const BLOCKED = 15 * 60;
async function guesses(
  attempts: TimedAttempts,
  times: number,
  of: (i: number) => [string, Partial<Guesser>?],
) {
  const answers: number[] = [];
  for (let i = 0; i < times; i++) answers.push(await attempts.guess(...of(i)));
  return answers;
}

test('every notation of an address belongs to the same networks', (t) => {
  const expected = {
    own: '2001:db8:1:2ab::/64',
    around: ['2001:db8:1:200::/56', '2001:db8:1::/48'],
  };
  for (const ip of [
    '2001:db8:1:2ab::1',
    '2001:DB8:1:2AB::',
    '2001:0db8:0001:02ab:0:0:0:1',
    '2001:db8:1:2ab::192.0.2.1',
    '2001:db8:1:2ab::1%eth0',
  ])
    t.deepEqual(networksOf(ip), expected as never, ip);
  t.is(networksOf('::1').own, '0:0:0:0::/64');
  for (const ip of ['192.0.2.1', '::ffff:192.0.2.1', '::FFFF:c000:201', '0:0:0:0:0:ffff:c000:201'])
    t.deepEqual(networksOf(ip), { own: '192.0.2.1', around: [] }, ip);
});

test('five failures for a name from one address block the pair, not the address and not the name', async (t) => {
  const attempts = new TimedAttempts(new FakeClock(), ['192.0.2.1', '192.0.2.2']);
  t.deepEqual(await guesses(attempts, 6, () => ['192.0.2.1']), [401, 401, 401, 401, 401, BLOCKED]);
  t.is(await attempts.guess('192.0.2.1', { username: ' ADMIN ' }), BLOCKED);
  t.is(await attempts.guess('192.0.2.1', { username: 'other' }), 401);
  t.is(await attempts.guess('192.0.2.2'), 401);
  await attempts.advance(15 * MINUTE);
  t.is(await attempts.guess('192.0.2.1'), 401, 'a block ends');
});

test('drops failures after five minutes, and after a success', async (t) => {
  const attempts = new TimedAttempts(new FakeClock(), ['192.0.2.1']);
  for (const forget of [
    () => attempts.advance(5 * MINUTE),
    () => attempts.login('192.0.2.1'),
    () => attempts.forget(),
  ]) {
    t.deepEqual(await guesses(attempts, 4, () => ['192.0.2.1']), [401, 401, 401, 401]);
    await forget();
  }
  await guesses(attempts, 5, () => ['192.0.2.1']);
  t.is(await attempts.guess('192.0.2.1'), BLOCKED);
  await attempts.forget();
  t.is(await attempts.guess('192.0.2.1'), 401);
});

test('running checks count, but block nobody', async (t) => {
  const attempts = new TimedAttempts(new FakeClock(), ['192.0.2.1']);
  const open: (() => void)[] = [];
  const running = Array.from({ length: 5 }, () =>
    attempts.run({ ip: '192.0.2.1', username: 'admin' }, () => new Promise<void>((done) => open.push(done))),
  );
  t.is(await attempts.guess('192.0.2.1'), 1, 'a sixth one is to come again in a second');
  for (const done of open) done();
  await Promise.all(running);
  t.is(await attempts.login('192.0.2.1'), 'in');
});

test('an address, a /64, a /56 and a /48 have growing allowances', async (t) => {
  const cases: [string, number, (i: number) => string][] = [
    ['an address', 20, () => '192.0.2.1'],
    ['a /64', 20, (i) => `2001:db8:1:2:${i}::1`],
    ['a /56', 40, (i) => `2001:db8:2:${(0x300 + i).toString(16)}::1`],
    ['a /48', 80, (i) => `2001:db8:3:${(i * 256).toString(16)}::1`],
  ];
  for (const [what, most, ip] of cases) {
    const attempts = new TimedAttempts(new FakeClock());
    const answers = await guesses(attempts, most + 1, (i) => [ip(i), { username: `name${i}` }]);
    t.is(answers.indexOf(BLOCKED), most, what);
    t.throws(() => attempts.refuseBlocked({ ip: ip(most) }), { message: /too many failed attempts/ }, what);
    t.is(await attempts.guess('2001:db8:4::1', { username: 'another' }), 401, what);
  }
});

test('strangers make at most four guesses at once at one name, and less than one a second', async (t) => {
  const clock = new FakeClock();
  const attempts = new TimedAttempts(clock);
  const answers: number[] = [];
  const wave = (seconds: number) => {
    for (let i = 0; i < 50; i++)
      attempts
        .guess(`2001:db8:${(seconds % 60_000).toString(16)}:${i}00::1`)
        .then((answer) => answers.push(answer));
  };
  const checked = () => answers.filter((answer) => answer === 401).length;
  // As in the review that found it: 900 guesses from 900 networks within 41 s.
  for (let seconds = 0; seconds < 41; seconds++) {
    wave(seconds);
    await attempts.advance(1000);
  }
  t.log(`${checked()} guesses in the first 41 s`);
  t.true(checked() <= 45, `${checked()} guesses were checked`);
  t.is(answers.filter((answer) => answer === 5).length, answers.length - checked(), 'nobody is blocked');
  const before = checked();
  for (let seconds = 41; seconds < 41 + 600; seconds++) {
    wave(seconds);
    await attempts.advance(1000);
  }
  t.log(`${checked() - before} guesses in the next 600 s`);
  t.true(checked() - before <= 480, `${checked() - before} guesses were checked`);
  t.is(Math.max(...attempts.delays), 5000);
});

test('strangers who use up a name slow down and block other strangers, but no known callers', async (t) => {
  const attempts = new TimedAttempts(new FakeClock(), ['192.0.2.1']);
  for (let i = 0; i < 10; i++) {
    const guess = attempts.guess(`198.51.100.${i}`);
    await attempts.advance(5000);
    await guess;
  }
  const four = Array.from({ length: 4 }, (_, i) => attempts.guess(`203.0.113.${i}`));
  t.is(await attempts.guess('203.0.113.9'), 5, 'an unknown address is told to retry');
  const waits = attempts.delays.length;
  t.is(await attempts.login('192.0.2.1'), 'in', 'an address that is known');
  t.is(
    await attempts.login('203.0.113.10', { cookies: { weir_device: 'x' } }),
    'in',
    'a device that is known',
  );
  t.is(await attempts.login('203.0.113.11', { isAuthenticated: true }), 'in', 'a caller with a session');
  t.is(attempts.delays.length, waits, 'none of them waits');
  t.is(await attempts.guess('203.0.113.9', { username: 'another' }), 401, 'another name');
  await attempts.advance(5000);
  t.deepEqual(await Promise.all(four), [401, 401, 401, 401]);
});

test('failures of a caller with a session count for its known address, and its success clears them', async (t) => {
  const attempts = new TimedAttempts(new FakeClock(), ['192.0.2.1']);
  const session = { isAuthenticated: true };
  const fail = (times: number, more: Partial<Guesser> = {}) =>
    guesses(attempts, times, () => ['192.0.2.1', more]);
  t.deepEqual(await fail(4, session), [401, 401, 401, 401]);
  t.is(await attempts.login('192.0.2.1', session), 'in');
  t.deepEqual(await fail(4), [401, 401, 401, 401], 'the address starts from zero');
  // One more, by the session: it counts there for itself, and for the address as the fifth.
  t.deepEqual(await fail(1, session), [401]);
  t.is(await attempts.guess('192.0.2.1'), BLOCKED);
  t.is(await attempts.login('192.0.2.1', session), 'in', 'a blocked address does not lock out a session');
});

test('a device and an authenticated caller have their own limits', async (t) => {
  for (const lane of [{ cookies: { weir_device: 'x' } }, { isAuthenticated: true }]) {
    const attempts = new TimedAttempts(new FakeClock());
    const answers: number[] = [];
    for (let i = 0; i < 6; i++) {
      const guess = attempts.guess('192.0.2.1', lane);
      await attempts.advance(5000);
      answers.push(await guess);
    }
    t.deepEqual(answers, [401, 401, 401, 401, 401, BLOCKED]);
    t.is(await attempts.guess('192.0.2.1'), 401, 'others at this address are not blocked by it');
  }
});

test('wrong codes from everywhere delay a name longer than wrong passwords, and block nobody', async (t) => {
  const attempts = new TimedAttempts(new FakeClock());
  const wrongCode = (ip: string) =>
    attempts
      .run({ ip, username: 'admin' }, async (attempt) => {
        attempt.wrongCode();
        throw errors.WRONG_LOGIN();
      })
      .catch(({ status }: { status: number }) => status);
  for (let i = 0; i < 20; i++) {
    const guess = wrongCode(`192.0.2.${i}`);
    await attempts.advance(20_000);
    t.is(await guess, 401);
  }
  t.is(attempts.delays.at(-1), 20_000);
  await attempts.advance(6 * MINUTE);
  const guess = attempts.guess('198.51.100.1');
  t.is(attempts.delays.at(-1), 20_000, 'whatever the password');
  await attempts.advance(20_000);
  t.is(await guess, 401);
  await attempts.advance(60 * MINUTE);
  t.is(await attempts.guess('198.51.100.2'), 401, 'an hour later it is over');
});

test('does not count a caller that disconnects while it waits', async (t) => {
  const clock = new FakeClock();
  const attempts = new (class extends TimedAttempts {
    protected override wait = () => Promise.reject(new Error('aborted'));
  })(clock);
  await guesses(attempts, 3, (i) => [`192.0.2.${i}`]);
  t.deepEqual(await guesses(attempts, 30, () => ['198.51.100.1']), Array(30).fill(401));
});

test('a guess that waits for its address frees its place in the throttle of the name', async (t) => {
  const attempts = new TimedAttempts(new FakeClock());
  await guesses(attempts, 3, () => ['192.0.2.1']);
  const two = [attempts.guess('192.0.2.1'), attempts.guess('192.0.2.1')];
  t.deepEqual(await guesses(attempts, 6, () => ['192.0.2.1']), Array(6).fill(1));
  await attempts.advance(5000);
  t.deepEqual(await Promise.all(two), [401, 401]);
  const other = attempts.guess('198.51.100.1');
  await attempts.advance(5000);
  t.is(await other, 401);
});

test('does not count a check that was refused for lack of room', async (t) => {
  const attempts = new TimedAttempts(new FakeClock(), ['192.0.2.1']);
  for (let i = 0; i < 10; i++)
    await t.throwsAsync(
      attempts.run({ ip: '192.0.2.1', username: 'admin' }, async () => {
        throw errors.TOO_MANY_LOGINS();
      }),
    );
  t.is(await attempts.guess('192.0.2.1'), 401);
});

test('limits a stored block to its normal length, even if the clock was wrong', async (t) => {
  const clock = new FakeClock();
  const source = hash('sha256', 'address 192.0.2.1');
  const attempts = new TimedAttempts(clock, [], [{ source, blockedUntil: clock.now() + 1000 * 86_400_000 }]);
  await attempts.limits.load();
  t.is(await attempts.guess('192.0.2.1'), BLOCKED);
  await attempts.advance(15 * MINUTE);
  t.is(await attempts.guess('192.0.2.1'), 401);
});

test("checks passwords of known callers before strangers', who never use all places", async (t) => {
  const queue = new PasswordQueue();
  const order: string[] = [];
  const open: (() => void)[] = [];
  const run = (name: string, isStranger: boolean) =>
    queue.run(
      () => {
        order.push(name);
        return new Promise<void>((done) => open.push(done));
      },
      { isStranger },
    );
  const all = [
    ...Array.from({ length: 34 }, (_, i) => run(`stranger ${i}`, true)),
    ...Array.from({ length: 4 }, (_, i) => run(`known ${i}`, false)),
  ];
  await t.throwsAsync(run('one too many', true), { message: /too many logins are being checked/ });
  t.deepEqual(order, ['stranger 0', 'stranger 1', 'known 0', 'known 1']);
  while (open.length > 0) {
    open.shift()?.();
    await turn();
  }
  await Promise.all(all);
  t.deepEqual(order.slice(4, 6), ['known 2', 'known 3']);
  t.is(order.length, 38);
});

test('a flood of unchecked names does not displace earlier failures', async (t) => {
  const attempts = new TimedAttempts(new FakeClock(), ['192.0.2.1']);
  for (let i = 0; i < 4; i++) {
    const guess = attempts.guess(`198.51.100.${i}`);
    await attempts.advance(5000);
    t.is(await guess, 401);
    t.is(await attempts.guess('192.0.2.1'), 401);
  }
  const open: (() => void)[] = [];
  const running = Array.from({ length: 20 }, (_, i) =>
    attempts.run(
      { ip: '203.0.113.1', username: `u${i}` },
      () => new Promise<void>((done) => open.push(done)),
    ),
  );
  const flood = await guesses(attempts, 20_001, (i) => ['203.0.113.1', { username: `name ${i}` }]);
  t.deepEqual(new Set(flood), new Set([1]));
  for (const done of open) done();
  await Promise.all(running);
  t.is(await attempts.guess('192.0.2.1'), 401);
  t.is(await attempts.guess('192.0.2.1'), BLOCKED, 'the fifth failure blocks');
  const guess = attempts.guess('198.51.100.9');
  t.is(attempts.delays.at(-1), 200, 'the fifth stranger waits');
  await attempts.advance(5000);
  t.is(await guess, 401);
});

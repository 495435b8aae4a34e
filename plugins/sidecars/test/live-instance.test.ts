// Random changes of users with failures in between, and programs that treat counters in different ways: every byte counts
// once. The ledger does what `traffic` does with readings.
import test from 'ava';
import type { UserRef } from '../../engine/contract.js';
import type { CounterReading } from '../../traffic/contract.js';
import { programsHaveUsers } from '../invariants.js';
import type { Log } from '../../../kernel/index.js';
import { Problems } from '../problems.js';
import { LiveInstance } from '../live-instance.js';
import type { Sidecar, SidecarControl, SidecarUser } from '../contract.js';

const userOf = (clientId: number, version: number): SidecarUser => ({
  inboundId: 1,
  clientId,
  name: `i1.c${clientId}`,
  account: { protocol: 'test', version },
});

/** Adds what readings say since the last one. */
class Ledger {
  readonly total = new Map<number, number>();
  readonly #last = new Map<number, number>();

  add({ users, isComplete = false }: CounterReading): void {
    const seen = new Set<number>();
    for (const { clientId, up } of users) {
      seen.add(clientId);
      const last = this.#last.get(clientId) ?? 0;
      this.#count(clientId, up >= last ? up - last : up);
      this.#last.set(clientId, up);
    }
    if (isComplete) for (const id of this.#last.keys()) if (!seen.has(id)) this.#last.set(id, 0);
  }
  #count(id: number, bytes: number): void {
    this.total.set(id, (this.total.get(id) ?? 0) + bytes);
  }
}

interface Way {
  /** a user who changes in place keeps its counter */
  readonly keepsChanged: boolean;
}
class Program {
  readonly counters = new Map<number, number>();
  readonly accounts = new Map<number, number>();
  readonly calls: string[] = [];
  fails = false;
  readonly #way: Way;
  constructor(way: Way) {
    this.#way = way;
  }

  readonly control: SidecarControl = {
    countersEndWithUsers: true,
    users: {
      replace: async (users) => {
        this.calls.push(`replace ${users.length}`);
        const wanted = new Set(users.map(({ clientId }) => clientId));
        for (const id of this.accounts.keys()) if (!wanted.has(id)) this.#drop(id);
        for (const user of users) this.#put(user);
      },
      change: async (put, gone) => {
        this.calls.push(`change ${put.length} ${gone.length}`);
        // Some of them, and then it fails.
        const half = this.fails ? Math.ceil(gone.length / 2) : gone.length;
        for (const { clientId } of gone.slice(0, half)) this.#drop(clientId);
        if (this.fails) throw new Error('it fails halfway');
        for (const user of put) this.#put(user);
      },
    },
    read: async () => [...this.counters].map(([clientId, up]) => ({ inboundId: 1, clientId, up, down: 0 })),
  };

  #drop(id: number): void {
    this.accounts.delete(id);
    this.counters.delete(id);
  }
  #put({ clientId, account }: SidecarUser): void {
    const before = this.accounts.get(clientId);
    if (before === account['version']) return;
    if (before === undefined || !this.#way.keepsChanged) this.counters.set(clientId, 0);
    this.accounts.set(clientId, Number(account['version']));
  }
}

async function world(way: Way, clients: number) {
  const program = new Program(way);
  const ledger = new Ledger();
  const moved = new Map<number, number>();
  /** version by client; those that are missing are gone */
  const wanted = new Map<number, number>();
  for (let id = 1; id <= clients; id++) wanted.set(id, 1);
  const user = ({ clientId }: UserRef) => {
    const version = wanted.get(clientId);
    return version === undefined ? undefined : userOf(clientId, version);
  };
  const all = (): SidecarUser[] => [...wanted].map(([id, version]) => userOf(id, version));
  const live = await LiveInstance.open({
    sidecar: { protocol: 'test', open: () => program.control } as unknown as Sidecar,
    users: { user, users: all, attached: () => [...wanted.keys()], isAttached: () => true },
    plan: { name: 'in-1', inboundIds: [1], process: () => ({ args: [] }) },
    folder: '',
    record: { ports: {}, secret: '', readsUsersAtStart: false, program: '' },
    process: { name: 'running', pid: 1, since: Date.now(), adopted: false },
  });
  const settle = async (readings: readonly CounterReading[]): Promise<void> => {
    for (const reading of readings) ledger.add(reading);
  };
  const move = (id: number, bytes: number): void => {
    const before = program.counters.get(id);
    if (before === undefined) return;
    program.counters.set(id, before + bytes);
    moved.set(id, (moved.get(id) ?? 0) + bytes);
  };
  const poll = async (): Promise<void> => ledger.add(await live.read(Date.now()));
  const refs = (ids: readonly number[]) => ids.map((clientId) => ({ inboundId: 1, clientId }));
  await live.replace(all(), settle);
  return { program, ledger, moved, wanted, live, settle, move, poll, all, refs };
}

for (const keepsChanged of [true, false])
  test(`random changes, where a change in place ${keepsChanged ? 'keeps' : 'ends'} a counter`, async (t) => {
    const { program, ledger, moved, wanted, live, settle, move, poll, all, refs } = await world(
      { keepsChanged },
      8,
    );
    let seed = 12_345;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    for (let step = 0; step < 3000; step++) {
      for (let id = 1; id <= 8; id++) if (random(2) === 0) move(id, 1 + random(1000));
      const some = [1 + random(8), 1 + random(8)];
      const what = random(6);
      if (what === 0) await poll();
      if (what === 1) for (const id of some) wanted.delete(id);
      if (what === 2) for (const id of some) wanted.set(id, 1 + random(3));
      program.fails = what === 3;
      await live.change(refs(some), settle).catch(() => live.replace(all(), settle));
      program.fails = false;
    }
    await poll();
    t.deepEqual([...ledger.total].filter(([, bytes]) => bytes > 0).sort(), [...moved].sort());
    t.deepEqual([...program.accounts].sort(), [...wanted].filter(([id]) => program.accounts.has(id)).sort());
  });

test('most users change at once: they are removed and put, and nothing counts twice', async (t) => {
  const { program, ledger, wanted, live, settle, move, poll, refs } = await world(
    { keepsChanged: true },
    1200,
  );
  for (const id of wanted.keys()) move(id, 1000);
  await poll();
  for (const id of wanted.keys()) wanted.set(id, 2);
  await live.change(refs([...wanted.keys()]), settle);
  for (const id of wanted.keys()) move(id, 1);
  await poll();
  t.true([...ledger.total.values()].every((bytes) => bytes === 1001));
  t.is(ledger.total.size, 1200);
  t.deepEqual(program.calls, ['replace 1200', 'change 0 1200', 'replace 1200']);
});

test('a change that takes too long goes on alone: another one waits for the next comparison', async (t) => {
  const { program, wanted, live, settle, refs } = await world({ keepsChanged: true }, 2);
  const { users } = program.control;
  let finish = (): void => undefined;
  (users as { change: unknown }).change = () => new Promise<void>((resolve) => (finish = resolve));
  wanted.set(3, 1);
  const slow = live.change(refs([3]), settle);
  await t.throwsAsync(slow, { message: /took longer than 10 s/ });
  await t.throwsAsync(live.replace([], settle), { message: /an earlier change of its users still goes on/ });
  finish();
  await new Promise((resolve) => setImmediate(resolve));
  await t.notThrowsAsync(live.replace([], settle));
  t.is(program.accounts.size, 0);
});

test('who is about to be removed moves nothing between the last reading and the removal', async (t) => {
  const { program, ledger, moved, wanted, live, settle, move, poll, refs } = await world(
    { keepsChanged: true },
    2,
  );
  const { control } = program;
  const quiet = new Set<number>();
  const read = control.read;
  Object.assign(control.users as object, {
    quiet: async (users: readonly UserRef[]) => {
      for (const { clientId } of users) quiet.add(clientId);
    },
  });
  // As a user who downloads all the time.
  const go = (): void => {
    for (const id of [1, 2]) if (!quiet.has(id)) move(id, 10);
  };
  Object.assign(control, {
    read: async () => {
      const counters = await read();
      go();
      return counters;
    },
  });
  wanted.delete(1);
  await live.change(refs([1]), settle);
  await poll();
  await poll();
  t.is(ledger.total.get(1) ?? 0, moved.get(1) ?? 0);
});

test('what the program lists is compared with what it should have', async (t) => {
  const { program, live, all } = await world({ keepsChanged: true }, 4);
  t.is(await live.differences(all()), undefined, 'it does not tell');
  Object.assign(program.control.users as object, {
    list: async () => [
      { name: 'i1.c1' },
      { name: 'i1.c2', account: { version: 1 } },
      { name: 'i1.c3', account: { version: 7 } },
      { name: 'i1.c9' },
    ],
  });
  t.deepEqual(await live.differences(all()), [
    'user i1.c3 has another account in the program',
    'user i1.c9 is in the program, and must not be',
    'user i1.c4 is not in the program',
  ]);
});

test('after a change that failed nothing is taken for done until all users are compared', async (t) => {
  const { program, wanted, live, settle, all, refs } = await world({ keepsChanged: true }, 2);
  program.fails = true;
  wanted.set(1, 2);
  await t.throwsAsync(live.change(refs([1]), settle), { message: /halfway/ });
  program.fails = false;
  await t.throwsAsync(live.change(refs([1]), settle), { message: /being compared/ });
  await live.replace(all(), settle);
  await live.change(refs([1]), settle);
  t.is(program.accounts.get(1), 2);
});

test('a program may say from how many users on all of them in one call cost less', async (t) => {
  const { program, wanted, live, settle, refs } = await world({ keepsChanged: true }, 40);
  Object.assign(program.control, { countersEndWithUsers: false });
  Object.assign(program.control.users as object, { wholeFrom: 3 });
  for (const id of [41, 42, 43]) wanted.set(id, 1);
  await live.change(refs([41, 42, 43]), settle);
  for (const id of [1, 2, 3, 4]) wanted.delete(id);
  await live.change(refs([1, 2, 3, 4]), settle);
  t.deepEqual(program.calls, ['replace 40', 'change 3 0', 'replace 39']);
  t.is(program.accounts.size, 39);
});

test('a difference that goes away while an edit arrives is not reported; one that stays is', async (t) => {
  const answers = [['a', 'b'], ['b', 'c'], ['b']];
  const found: string[] = [];
  const check = (differences: () => Promise<readonly string[] | undefined>) =>
    programsHaveUsers(() => [{ title: 'test/in-1', differences }]).check({
      add: (sentence) => void found.push(sentence),
      pause: () => undefined,
      signal: new AbortController().signal,
    });
  t.is(await check(async () => answers.shift()), undefined);
  t.deepEqual(found, ['test/in-1: b']);
  t.is(await check(async () => undefined), 'test/in-1 does not tell its users now');
  t.is(await check(() => Promise.reject(new Error('it hangs'))), 'test/in-1: it hangs');
  t.is(found.length, 1);
});

test('users who are as they should be are not put again', async (t) => {
  const { program, live, settle, refs } = await world({ keepsChanged: true }, 3);
  await live.change(refs([1, 2, 3, 99]), settle);
  t.deepEqual(program.calls, ['replace 3']);
});

test('failures in a row lead to a restart, and to the next one after twice as many', (t) => {
  const lines: object[] = [];
  const log = { warn: (_: string, fields: object) => void lines.push(fields) } as unknown as Log;
  const problems = new Problems(log, { protocol: 'test', sidecar: 'in-1' });
  const needed = (): number => {
    for (let i = 1; ; i++) {
      problems.fail('it fails', new Error('always'));
      if (problems.wantsRestart) return i;
    }
  };
  t.false(problems.hasFailed);
  for (const expected of [3, 6, 12]) {
    t.is(needed(), expected);
    problems.restarted();
    t.true(problems.hasFailed, 'until all is well');
  }
  t.is(lines.length, 1, 'logged once');
  t.is(problems.text, 'it fails: always');
  problems.solved();
  t.false(problems.hasFailed);
  t.is(needed(), 3);
});

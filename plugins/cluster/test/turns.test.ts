// The begin and the end of a write of one of several panels, with a database that says what the test wants.
import test from 'ava';
import type { Committed, Tx } from '../../../kernel/index.js';
import { CannotFollow } from '../change-log.js';
import { Member } from '../member.js';

const NOTHING = { changes: [], afters: [] };
const PLANNED_NOW = Number.POSITIVE_INFINITY;

function panel() {
  let last = 5;
  let others: Committed[] | Error = [];
  let isLeader = true;
  const ended: string[] = [];
  const statements: { sql: string; values: unknown }[] = [];
  const stored: number[] = [];
  let deliver: (told: unknown) => void = () => undefined;
  let looks = 0;
  const member = new Member({
    db: {
      query: async () => [{ last, holder: '', token: 0, beat: 0 }],
      write: async () => void (looks += 1),
      projection: (source: { apply(state: object, told: unknown): void }) => {
        deliver = (told) => source.apply({}, told);
        return { plugin: 'cluster' };
      },
    },
    hooks: { emit: () => undefined },
    log: { error: () => undefined, debug: () => undefined },
    leadership: {
      name: 'lead',
      check: () => isLeader,
      extend: async () => undefined,
      see: () => false,
      take: async () => undefined,
      release: async () => undefined,
    },
    figures: { exchange: async () => undefined },
    roll: { strike: async () => undefined },
    changes: {
      after: async () => {
        if (others instanceof Error) throw others;
        return others;
      },
      add: async (_: Tx, seq: number) => void stored.push(seq),
    },
  } as unknown as ConstructorParameters<typeof Member>[0]);
  member.onEnd = (reason) => void ended.push(reason);
  const open = () =>
    ({
      query: async () => [{ last, holder: null, token: null }],
      run: async (sql: string, values: unknown) => void statements.push({ sql, values }),
    }) as unknown as Tx;
  return {
    member,
    ended,
    statements,
    stored,
    open,
    /** Brings to memory what a turn was told, as after its commit. */
    deliver: () => deliver([]),
    /** How often memory was brought up to date since the last call. */
    looked: (): number => {
      const times = looks;
      looks = 0;
      return times;
    },
    begin: (since: number, owner: string, plannedAt = since, tx = open()) =>
      member.begin(tx, since, owner, plannedAt),
    /** Another panel has changed memory of a plugin. */
    wrote: (commit: number, plugin: string): void => {
      last = commit;
      others = [{ commit, changes: [[{ plugin } as never, 'change']], afters: [] }];
    },
    fails: (error: Error): void => {
      last += 1;
      others = error;
    },
    goesBack: () => void (last = 3),
    loses: () => void (isLeader = false),
  };
}
const moment = () => new Promise((resolve) => setImmediate(resolve));
const BUSY = { code: 'KERNEL_DATABASE_BUSY' };

test('a write that was planned without a change of its own plugin is refused, and one of another plugin is not', async (t) => {
  const { begin, wrote, ended } = panel();
  await begin(5, 'clients');
  wrote(6, 'clients');
  const error = await t.throwsAsync(begin(5, 'clients'), BUSY);
  t.like(error, { headers: { 'Retry-After': '1' } });
  const told = await begin(5, 'settings');
  t.true(told.some(({ changes }) => changes.some(([, change]) => change === 'change')));
  await t.notThrowsAsync(begin(5, 'clients', 6), 'planned after it');
  await t.notThrowsAsync(begin(5, 'clients', PLANNED_NOW), 'planned inside its turn');
  t.deepEqual(ended, []);
});

test('each write changes the row of turns, and takes a number only where memory must learn of it', async (t) => {
  const { member, open, begin, statements, stored } = panel();
  const write = async (written: Omit<Committed, 'commit'>): Promise<number> => {
    const tx = open();
    await begin(5, 'clients', 5, tx);
    return member.record(tx, written);
  };
  t.is(await write(NOTHING), 5);
  t.is(await write({ changes: [[{} as never, 1]], afters: [] }), 6);
  t.is(await write({ changes: [], afters: [[{} as never, 1]] }), 6);
  t.deepEqual(stored, [6, 6]);
  t.is(statements.filter(({ sql }) => sql.includes('turns = turns + 1')).length, 3);
  const reading = open();
  await begin(5, 'clients', PLANNED_NOW, reading);
  t.is(await member.record(reading, NOTHING), 5);
  t.is(statements.length, 3, 'who only reads writes nothing');
});

test('a database from the past, a lost lead and changes that cannot be followed each end the panel, once', async (t) => {
  for (const [name, act, code] of [
    ['past', (of: ReturnType<typeof panel>) => of.goesBack(), 'KERNEL_DATABASE_AWAY'],
    ['lead', (of: ReturnType<typeof panel>) => of.loses(), BUSY.code],
    ['gap', (of: ReturnType<typeof panel>) => of.fails(new CannotFollow('too far behind')), BUSY.code],
  ] as const) {
    const of = panel();
    await of.begin(5, 'clients');
    act(of);
    for (let i = 0; i < 2; i++) await t.throwsAsync(of.begin(5, 'clients'), { code }, name);
    await moment();
    t.is(of.ended.length, 1, name);
    t.true(of.member.hasEnded);
    t.is(of.member.problem(), 'it starts again');
  }
  const failing = panel();
  await failing.begin(5, 'clients');
  failing.fails(new Error('the connection is lost'));
  await t.throwsAsync(failing.begin(5, 'clients'), BUSY);
  t.deepEqual(failing.ended, [], 'the next write tries again');
});

test('what a failed write has read of others reaches memory with the next look', async (t) => {
  const { member, begin, wrote, deliver, looked } = panel();
  await begin(5, 'clients');
  await member.open();
  t.teardown(() => member.close());
  looked();
  await member.look();
  t.is(looked(), 0, 'memory has all there is');
  wrote(6, 'settings');
  // Refused inside its transaction: nothing of it is delivered, and that of the other panel is not either.
  await begin(5, 'clients');
  await member.look();
  t.is(looked(), 1);
  deliver();
  await member.look();
  t.is(looked(), 0);
});

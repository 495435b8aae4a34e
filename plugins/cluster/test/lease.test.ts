// The lease of one panel, with a database that answers when the test says so.
import test from 'ava';
import { LEASE_MS, Leadership } from '../leadership.js';

/** A database with the row of the lease, whose commits are answered one by one. */
function world() {
  let lease = { holder: '', token: 0, beat: 0 };
  const commits: (() => void)[] = [];
  const values = (given: unknown) => given as { holder: string; dead?: number; earlier?: string };
  const tx = {
    run: async (statement: string, given: unknown) => {
      const { holder, dead = -1, earlier = '' } = values(given);
      if (statement.startsWith('INSERT')) {
        const isOwnName = lease.holder.startsWith(earlier.slice(0, -1));
        const isFree = lease.holder === '' || lease.beat === dead || isOwnName;
        if (isFree && lease.holder !== holder) lease = { ...lease, holder, token: lease.token + 1 };
        if (lease.holder === holder) lease = { ...lease, beat: lease.beat + 1 };
      } else if (lease.holder === holder) {
        const isRelease = statement.includes("holder = '', beat");
        lease = { ...lease, beat: lease.beat + 1, ...(isRelease && { holder: '' }) };
      }
    },
    query: async () => [lease],
  };
  const db = {
    write: async (work: (given: unknown) => Promise<unknown>) => {
      const result = await work(tx);
      await new Promise<void>((resolve) => commits.push(resolve));
      return result;
    },
  };
  const panel = (name: string) =>
    new Leadership({
      db,
      log: { info: () => undefined, error: () => undefined },
      config: { name },
      roll: { sign: async () => undefined },
    } as unknown as ConstructorParameters<typeof Leadership>[0]);
  return {
    panel,
    /** the row, as a panel reads it */
    lease: () => lease,
    held: () => lease.holder.split('.')[0],
    /** Answers the oldest commit, and lets all that follows from it happen. */
    commit: async () => {
      while (commits.length === 0) await moment();
      commits.shift()?.();
      await moment();
    },
    waiting: () => commits.length,
  };
}
const moment = () => new Promise((resolve) => setImmediate(resolve));

async function leading(of: ReturnType<typeof world>, name = 'a'): Promise<Leadership> {
  const panel = of.panel(name);
  panel.see(of.lease());
  const taken = panel.take();
  await of.commit();
  await taken;
  return panel;
}

test('a renewal that is under way when the lead is handed over does not bring it back', async (t) => {
  const all = world();
  const a = await leading(all);
  t.true(a.leads);
  const renewal = a.take();
  await moment();
  a.pass();
  const released = a.release();
  await moment();
  // The renewal is answered first.
  while (all.waiting() > 0) await all.commit();
  await Promise.all([renewal, released]);
  t.is(all.held(), '');
  t.false(a.leads);
  t.true(a.check(all.lease()), 'the writes of a panel that passed the lead on are not refused');
  const again = a.take();
  await all.commit();
  await again;
  t.is(all.held(), '', 'it never takes it again');
});

test('a lease that is taken while this panel passes on is free at once', async (t) => {
  const all = world();
  const b = all.panel('b');
  b.see(all.lease());
  const taking = b.take();
  await moment();
  t.is(all.held(), 'b');
  b.pass();
  while (all.waiting() > 0) await all.commit();
  await taking;
  t.is(all.held(), '');
  t.false(b.leads);
});

test('a panel that closes without passing on takes nothing with a late renewal', async (t) => {
  const all = world();
  const a = await leading(all);
  const released = a.release();
  await moment();
  const late = a.take();
  while (all.waiting() > 0) await all.commit();
  await Promise.all([released, late]);
  t.is(all.held(), '');
  t.true(a.check(all.lease()));
});

test.serial('the holder gives up before another one takes over, and is refused after it', async (t) => {
  const real = performance.now.bind(performance);
  let ahead = 0;
  performance.now = () => real() + ahead;
  t.teardown(() => void (performance.now = real));
  const all = world();
  const a = await leading(all);
  const b = all.panel('b');
  b.see(all.lease());
  ahead += LEASE_MS - 1_000;
  t.true(a.leads);
  t.false(b.see(all.lease()), 'the lease may still be renewed');
  ahead += 900;
  const early = b.take();
  await all.commit();
  await early;
  t.is(all.held(), 'a');
  ahead += 200;
  t.false(a.leads);
  t.true(b.see(all.lease()));
  const taken = b.take();
  await all.commit();
  await taken;
  t.is(all.held(), 'b');
  t.true(b.leads);
  t.true(b.check(all.lease()));
  t.false(a.check(all.lease()), 'each write of the earlier leader is refused');
  t.false(a.mayTake);
  const late = a.take();
  await late;
  t.is(all.held(), 'b');
});

test.serial('a holder that renews keeps the lease, however long another one waits', async (t) => {
  const real = performance.now.bind(performance);
  let ahead = 0;
  performance.now = () => real() + ahead;
  t.teardown(() => void (performance.now = real));
  const all = world();
  const a = await leading(all);
  const b = all.panel('b');
  for (let i = 0; i < 5; i++) {
    b.see(all.lease());
    ahead += LEASE_MS / 2;
    const renewed = a.take();
    await all.commit();
    await renewed;
  }
  // Seen long ago, and counted up since: what b has seen last is not the count of now.
  ahead += LEASE_MS * 0.7;
  const tried = b.take();
  await all.commit();
  await tried;
  t.is(all.held(), 'a');
  t.true(a.leads);
});

test('another start of the same panel takes its lease at once, with another token', async (t) => {
  const all = world();
  const a = await leading(all);
  const again = await leading(all);
  t.true(again.leads);
  t.is(all.lease().token, 2);
  t.false(a.check(all.lease()));
  const other = all.panel('aa');
  other.see(all.lease());
  const tried = other.take();
  await all.commit();
  await tried;
  t.is(all.held(), 'a', 'a name that begins alike is another one');
});

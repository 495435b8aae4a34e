// Figures of the leader: written when they change and before they are too old, and read by the others.
import test from 'ava';
import { Figures } from '../figures.js';

function world(t: { teardown(fn: () => void): void }) {
  const real = performance.now.bind(performance);
  let ahead = 0;
  performance.now = () => real() + ahead;
  t.teardown(() => void (performance.now = real));
  const rows = new Map<string, string>();
  const written: string[] = [];
  const db = {
    query: async () => [...rows].map(([name, body]) => ({ name, body })),
    write: async (work: (tx: object) => Promise<void>) =>
      work({
        run: async (_: string, { name, body }: { name: string; body: string }) => {
          written.push(name);
          rows.set(name, body);
        },
      }),
  };
  const panel = () => {
    const taken: unknown[] = [];
    const faults: string[] = [];
    let value: unknown = { online: 1 };
    const entries = [
      { name: 'presence', read: () => value, take: (given: unknown) => void taken.push(given) },
      {
        name: 'broken',
        read: () => {
          throw new Error('a bug');
        },
        take: () => {
          throw new Error('a bug');
        },
      },
    ];
    const figures = new Figures({
      db,
      log: { debug: () => undefined },
      contributions: () =>
        entries.map((entry) => ({ value: entry, fault: (where: string) => void faults.push(where) })),
    } as unknown as ConstructorParameters<typeof Figures>[0]);
    return { figures, taken, faults, says: (next: unknown) => void (value = next) };
  };
  return { panel, rows, written, later: (ms: number) => void (ahead += ms) };
}

test.serial('what has not changed is written again before it is too old, and not each time', async (t) => {
  const { panel, written, later } = world(t);
  const { figures, faults, says } = panel();
  await figures.exchange(true);
  t.deepEqual(written.splice(0), ['presence']);
  later(2_000);
  await figures.exchange(true);
  t.deepEqual(written, []);
  later(5_000);
  await figures.exchange(true);
  t.deepEqual(written.splice(0), ['presence'], 'readers take figures of 15 seconds');
  says({ online: 2 });
  await figures.exchange(true);
  t.deepEqual(written.splice(0), ['presence']);
  says({ huge: 'x'.repeat(9 * 1024 * 1024) });
  await figures.exchange(true);
  t.deepEqual(written, []);
  t.is(faults.length, 5, 'one that fails holds up no other');
});

test.serial('the others take what there is, and nothing where nobody leads', async (t) => {
  const { panel, rows } = world(t);
  const [leader, follower] = [panel(), panel()];
  await leader.figures.exchange(true);
  await follower.figures.exchange(false);
  t.deepEqual(follower.taken.splice(0), [{ online: 1 }]);
  rows.clear();
  await follower.figures.exchange(false);
  t.deepEqual(follower.taken.splice(0), [undefined]);
  rows.set('presence', '{broken').set('broken', '1');
  await follower.figures.exchange(false);
  t.deepEqual(follower.taken, []);
  t.is(follower.faults.length, 4);
});

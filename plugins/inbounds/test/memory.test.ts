// Runs on every database in test:full.
// After any edits, the inbounds in memory are those in the database.
import test from 'ava';
import { type Database, PanelError, type Principal } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { random } from '../../../test/harness/random.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import inbounds from '../index.js';
import type { InboundMemory } from '../memory.js';
import type { InboundLimits } from '../limits.js';
import type { InboundService } from '../service.js';
import type { InboundStore } from '../store.js';

interface Inside {
  readonly db: Database;
  readonly self: Principal;
  readonly store: InboundStore;
  readonly service: InboundService;
  readonly limits: InboundLimits;
}

const EDITS = 2000;
const AT_ONCE = 20;
/** Inbounds have an order, what they used has none. */
const comparable = ({ inbounds: rows, usage, tags, places }: InboundMemory) => ({
  inbounds: [...rows],
  usage: [...usage].sort(([a], [b]) => a - b),
  tags: Object.fromEntries(tags),
  places: Object.fromEntries([...places].map(([key, ids]) => [key, [...ids].sort((a, b) => a - b)])),
});
class ChangedMind extends Error {}

test('after thousands of random edits, memory equals a fresh load', async (t) => {
  const observed = servicesOf<Inside>(inbounds);
  const clock = new FakeClock();
  await using _ = await TestPanel.boot({ plugins: [observed.plugin, new FakeEngine().plugin], clock });
  const { db, self, store, service, limits } = observed.services;
  const { below, pick } = random(10);
  const ids = (): number[] => store.list().map(({ id }) => id);
  const anId = (): number => pick(ids()) ?? 1;
  const fields = () => ({
    remark: `remark ${below(9)} é`,
    total: below(3) * 5000,
    enable: below(4) > 0,
    tag: below(5) === 0 ? `tag-${below(9)}` : '',
    trafficReset: pick(['never', 'daily'] as const) ?? 'never',
    expiryTime: below(3) === 0 ? clock.now() + below(1000) - 500 : 0,
    settings: { decryption: 'none', testseed: [below(9), null, 1.5] },
    sniffing: { enabled: below(2) === 0 },
  });
  const usage = () =>
    [...ids(), 9999].map((inboundId) => ({
      inboundId,
      up: below(900),
      down: below(3) ? below(900) : 2 ** 53 - 1,
    }));

  const edits: readonly (() => Promise<unknown>)[] = [
    () =>
      ids().length > 20
        ? service.deleteMany(ids().slice(0, 10), self)
        : service.add(
            { ...fields(), listen: '127.0.0.1', protocol: 'vless', port: 40_000 + below(900) },
            self,
          ),
    () => service.update(anId(), fields(), self),
    () => service.setEnable(anId(), below(2) === 0, self),
    () => service.setSortIndex(anId(), 1 + below(9), self),
    () => (below(4) === 0 ? service.delete(anId(), self) : Promise.resolve()),
    () => limits.deplete([{ id: anId(), cause: 'quota' }], self),
    () => limits.resetOne(anId(), clock.now(), self),
    () => (below(5) === 0 ? limits.resetAll(clock.now(), self) : Promise.resolve()),
    () =>
      db.write(async (tx) => {
        await store.addUsage(tx, usage());
        if (below(5) === 0) throw new ChangedMind();
      }),
    () =>
      limits.reset([anId(), 9999], clock.now(), self, (work) =>
        db.write(async (tx) => {
          await work(tx);
          if (below(3) === 0) throw new ChangedMind();
        }),
      ),
  ];
  let done = 0;
  let refused = 0;
  for (let round = 0; round < EDITS / AT_ONCE; round++) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, () =>
        pick(edits)?.().then(
          () => done++,
          (error: unknown) => {
            if (!(error instanceof PanelError || error instanceof ChangedMind)) throw error;
            refused++;
          },
        ),
      ),
    );
    if (round % 10 === 0)
      t.deepEqual(comparable(store.memory.state), comparable(await store.memory.fresh()), `round ${round}`);
  }
  // The last random edits may have been resets: the end of the comparison needs rows and usage.
  await service.add({ ...fields(), listen: '127.0.0.1', protocol: 'vless', port: 39_999, tag: '' }, self);
  await db.write((tx) => store.addUsage(tx, usage()));
  t.deepEqual(comparable(store.memory.state), comparable(await store.memory.fresh()));
  t.true(done > EDITS / 2 && refused > EDITS / 50, `${done} edits were made, ${refused} refused`);
  t.true(store.list().length > 0 && store.memory.state.usage.size > 0);
});

// Runs on every database in test:full.
// After any edits, the clients and groups in memory are those in the database.
import test, { type ExecutionContext } from 'ava';
import { type Database, PanelError, type Principal } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { random } from '../../../test/harness/random.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import type { BulkOperations } from '../edits/bulk-operations.js';
import type { ClientService } from '../edits/client-service.js';
import type { GroupStore } from '../groups/group-store.js';
import type { Groups } from '../groups/groups.js';
import clients from '../index.js';
import { emailKey } from '../model/fields.js';
import type { ClientStore } from '../model/client-store.js';
import { uniqueFields } from '../model/fields.js';
import type { Roster } from '../model/roster.js';
import type { UsageEdits } from '../usage/usage-edits.js';

interface Inside {
  readonly db: Database;
  readonly self: Principal;
  readonly store: ClientStore;
  readonly groupStore: GroupStore;
  readonly service: ClientService;
  readonly bulk: BulkOperations;
  readonly usage: UsageEdits;
  readonly groups: Groups;
}

const EDITS = 3000;
const AT_ONCE = 20;
const NAMES = 60;
class ChangedMind extends Error {}

/** Everything that a roster answers; `values` were given to clients at any time. */
const answersOf = (roster: Roster, values: Iterable<string>) => ({
  size: roster.size,
  rows: roster.ordered('id').map((row) => ({ ...row })),
  searched: roster.search.whole(roster.ordered('id')),
  byEmail: roster.ordered('email').map(({ id }) => id),
  byId: roster.ordered('id').map(({ id }) => roster.byId(id)?.email),
  groups: [...roster.groups.names()]
    .sort()
    .map((name) => [name, [...roster.groups.idsOf(name)].sort((a, b) => a - b)]),
  owners: [...values].map((value) => uniqueFields.map((name) => roster.owner(name, value)?.id)),
});

async function boot(t: ExecutionContext, clock: FakeClock) {
  const observed = servicesOf<Inside>(clients);
  const panel = await TestPanel.boot({ plugins: [observed.plugin, new FakeEngine().plugin], clock });
  t.teardown(() => panel[Symbol.asyncDispose]());
  return { panel, ...observed.services };
}

test('after thousands of random edits, memory equals a fresh load', async (t) => {
  const clock = new FakeClock();
  const {
    panel,
    db,
    self,
    store,
    groupStore,
    service,
    bulk,
    usage: usageEdits,
    groups,
  } = await boot(t, clock);
  const { below, pick } = random(10);
  const inbounds = [1, 2, 3];
  for (const i of inbounds) inbounds[i - 1] = await panel.addInbound();
  const values = new Set<string>();
  const name = (): string => `${pick(['Ann', 'ann', 'Öl', 'b'])}${below(NAMES)}`;
  const value = (): string => {
    const chosen = name();
    values.add(chosen);
    return chosen;
  };
  const ids = (): number[] => store.roster.ordered('id').map(({ id }) => id);
  const names = (): string[] => Array.from({ length: 1 + below(6) }, name);
  const aGroup = (): string => pick(['family', 'Family', 'ü', 'team', 'new']) ?? '';
  const group = (): string => (below(3) ? aGroup() : '');
  const inboundIds = (): number[] => inbounds.filter(() => below(2) === 0);
  const fields = () => ({
    ...(below(3) === 0 && { subId: value(), password: value(), auth: value() }),
    totalGB: below(3) * 5000,
    expiryTime: [0, clock.now() + below(1000) - 300, -below(9000)][below(3)] ?? 0,
    enable: below(4) > 0,
    group: group(),
    comment: `comment ${below(9)} é`,
    tgId: below(5),
    reverse: below(2) ? null : { b: below(9), a: [null, 1.5] },
  });
  const usage = () =>
    [...ids().filter(() => below(3) === 0), 9999].map((clientId) => ({
      clientId,
      inboundId: pick(inbounds) ?? 1,
      up: below(900),
      down: below(30) ? below(900) : 2 ** 53 - 1,
    }));
  const usedElsewhere = () => ({
    up: below(900),
    down: below(900),
    lastOnline: below(900),
    lastSubFetch: below(900),
    resetCount: below(3),
  });
  const inWrite = (work: Parameters<Database['write']>[0]) =>
    db.write(async (tx) => {
      await work(tx);
      if (below(5) === 0) throw new ChangedMind();
    });
  const now = () => clock.now();

  const edits: readonly (() => unknown)[] = [
    () => service.add({ client: { email: value(), ...fields() }, inboundIds: inboundIds() }, self),
    () =>
      service.addMany(
        Array.from({ length: 1 + below(9) }, () => ({
          client: { email: value(), ...fields() },
          inboundIds: inboundIds(),
        })),
        self,
      ),
    () => service.update(name(), { ...fields(), ...(below(2) && { email: value() }) }, self),
    () => service.update(name(), { comment: 'only this' }, self),
    () => bulk.setEnable(names(), below(2) === 0, self),
    () =>
      bulk.adjust(
        names(),
        { addDays: 1, addBytes: below(99), flow: '', limitHwid: below(3), adTag: '' },
        self,
      ),
    () => bulk.delete(names(), below(2) === 0, self),
    () =>
      below(40) === 0
        ? bulk.deleteWhere(
            ({ group }) => group === 'ü',
            self,
            () => undefined,
          )
        : undefined,
    () => bulk.attach(names(), inboundIds(), self),
    () => bulk.detach(names(), inboundIds(), self),
    () => usageEdits.resetTraffic(names(), self),
    () => (below(9) === 0 ? usageEdits.resetAll(self, () => undefined) : undefined),
    () =>
      service.addMany(
        names().map((email) => ({ client: { email, ...fields() }, inboundIds: inboundIds() })),
        self,
        { usage: new Map(names().map((email) => [emailKey(email), usedElsewhere()])), fromElsewhere: true },
      ),
    () => groups.create(aGroup(), self),
    () => groups.rename(aGroup(), aGroup(), self),
    () => groups.delete(aGroup(), self),
    () => groups.resetTraffic(aGroup(), self),
    () => groups.add(names(), aGroup(), self),
    () => groups.remove(names(), self),
    () => inWrite((tx) => store.addUsage(tx, usage(), now())),
    () =>
      inWrite((tx) =>
        store.addKeptUsage(
          tx,
          Array.from({ length: 50 }, (_, i) => ({ email: name(), inboundId: i % 3, up: 5, down: 7 })),
          now(),
        ),
      ),
    () => inWrite((tx) => store.startExpiry(tx, ids(), now(), self)),
    () =>
      inWrite((tx) =>
        store.deplete(
          tx,
          [pick(ids()) ?? 1, 9999].map((id) => ({ id, cause: 'quota' })),
          self,
        ),
      ),
    () => store.fetched(pick(ids()) ?? 1, now()),
    () => store.fetches.flush(),
    async () => {
      if (below(9) > 0) return;
      const [gone] = inbounds.splice(below(inbounds.length), 1);
      await panel.get(`/panel/api/inbounds/del/${gone}`, { method: 'POST' });
      inbounds.push(await panel.addInbound());
    },
  ];

  let done = 0;
  const refused = new Map<string, number>();
  const compare = async (when: string) => {
    // Fetches are in memory at once and in the database some seconds later; all else is equal after each write.
    await store.fetches.flush();
    const fresh = await store.projection.fresh();
    t.deepEqual(answersOf(store.roster, values), answersOf(fresh, values), when);
    const { state } = groupStore.projection;
    t.deepEqual([...state].sort(), [...(await groupStore.projection.fresh())].sort(), when);
  };
  for (let round = 0; round < EDITS / AT_ONCE; round++) {
    clock.tick(below(200));
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        try {
          await pick(edits)?.();
          done++;
        } catch (error) {
          if (!(error instanceof PanelError || error instanceof ChangedMind)) throw error;
          refused.set(error.message, (refused.get(error.message) ?? 0) + 1);
        }
      }),
    );
    if (round % 15 === 0) await compare(`round ${round}`);
  }
  // The last random edits may have deleted groups: the end of the comparison needs some.
  for (const end of ['end-1', 'end-2']) {
    await service.add({ client: { email: end }, inboundIds: inbounds.slice(0, 1) }, self);
    await groups.add([end], end, self);
  }
  await compare('at the end');
  t.true(done > EDITS / 2 && refused.size > 9, `${done} edits were made; ${refused.size} kinds of refusal`);
  t.true(store.roster.size > 20 && [...groupStore.names()].length > 1, `${store.roster.size} clients`);
});

// Runs on every database in test:full.
// After any edits, also at once and with inbounds that go meanwhile, hosts in memory are those in the database, and
// subscriptions show what a freshly started panel shows.
import test from 'ava';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, PanelError, type Principal } from '../../../kernel/index.js';
import { dropDatabase } from '../../../test/harness/database.js';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { random } from '../../../test/harness/random.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import type { HostService } from '../host-service.js';
import type { HostStore } from '../host-store.js';
import hosts from '../index.js';
import type { HostMemory } from '../memory.js';
import type { AddHosts } from '../schemas.js';

interface Inside {
  readonly db: Database;
  readonly self: Principal;
  readonly store: HostStore;
  readonly service: HostService;
}
const EDITS = 600;
const AT_ONCE = 10;

const comparable = ({ groups, byInbound }: HostMemory) => ({
  groups: [...groups.values()].sort((a, b) => (a.groupId < b.groupId ? -1 : 1)),
  byInbound: [...byInbound].map(([id, ids]) => [id, [...ids].sort()] as const).sort(([a], [b]) => a - b),
});

test('after random edits, memory equals a fresh load, and subscriptions those after a restart', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(async () => {
    await dropDatabase(dataDirectory);
    await rm(dataDirectory, { recursive: true, force: true });
  });
  const observed = servicesOf<Inside>(hosts);
  const first = await TestPanel.boot({ plugins: [observed.plugin, new FakeEngine().plugin], dataDirectory });
  t.teardown(() => first.stop());
  await first.get('/panel/api/setting/update', { body: { subPath: '/s/', subEncrypt: false } });
  const { self, store, service } = observed.services;
  const { below, pick } = random(20);
  const inbounds = new Set<number>();
  for (let i = 0; i < 8; i++) inbounds.add(await first.addInbound());
  await first.addClient('ann', [...inbounds], { subId: 'ann' });
  const some = <T>(from: readonly T[]): T[] => from.filter(() => below(3) === 0);
  const inboundIds = () => {
    const chosen = some([...inbounds]);
    return chosen.length > 0 ? chosen : [pick([...inbounds]) ?? 1];
  };
  const groupIds = (): string[] => [...store.memory.state.groups.keys()];
  const fields = (): Omit<AddHosts, 'inboundIds'> => ({
    remark: `remark ${below(9)} é`,
    hosts: some(['a.example', 'b.example:1', 'b.example:2', '2001:db8::1', ':77', '']),
    port: below(3) * 1000,
    tags: some(['A', 'B']),
    muxParams: pick([null, '{"concurrency":4}']) ?? null,
    shuffleHost: below(2) === 0,
    isHidden: below(5) === 0,
    sni: pick(['', 'x.example']) ?? '',
  });
  const aGroup = (): string => pick(groupIds()) ?? 'nobody';
  const edits: readonly (() => Promise<unknown>)[] = [
    () =>
      groupIds().length < 15
        ? service.add({ ...fields(), inboundIds: inboundIds() }, self)
        : service.delete(some(groupIds()), self),
    () => service.update(aGroup(), fields(), self),
    () => service.update(aGroup(), { inboundIds: inboundIds() }, self),
    () => service.update(aGroup(), { port: below(9) }, self),
    () => service.setEnable(some(groupIds()), below(2) === 0, self),
    () => service.reorder(some([...groupIds(), 'nobody']), self),
    async () => {
      if (below(4) > 0 || inbounds.size < 3) return;
      const gone = pick([...inbounds]) as number;
      inbounds.delete(gone);
      await first.get(`/panel/api/inbounds/del/${gone}`, { method: 'POST' });
    },
    async () => {
      if (inbounds.size > 8) return;
      const id = await first.addInbound();
      inbounds.add(id);
      await first.get('/panel/api/clients/bulkAttach', { body: { emails: ['ann'], inboundIds: [id] } });
    },
  ];
  let refusals = 0;
  for (let done = 0; done < EDITS; done += AT_ONCE)
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        try {
          await (pick(edits) as () => Promise<unknown>)();
        } catch (error) {
          if (!(error instanceof PanelError)) throw error;
          refusals++;
        }
      }),
    );
  t.log(`${refusals} of ${EDITS} edits were refused, ${groupIds().length} groups are left`);
  t.true(refusals < EDITS / 2 && groupIds().length > 2);
  t.deepEqual(comparable(store.memory.state), comparable(await store.memory.fresh()));
  t.deepEqual(first.faults, []);

  const shown = async (panel: TestPanel) => ({
    served: await (await fetch(`${panel.subscriptionUrl}/s/ann`)).text(),
    groups: await panel.get('/panel/api/hosts/list'),
    links: await panel.get('/panel/api/clients/links/ann'),
  });
  const before = await shown(first);
  t.true(before.served.split('\n').length > 3);
  await first.stop();
  const second = await TestPanel.boot({ plugins: [new FakeEngine().plugin], dataDirectory });
  t.teardown(() => second.stop());
  const after = await shown(second);
  // The port of the listener differs, nothing else does.
  t.deepEqual(after, before);
});

test('an edit that began before an inbound was deleted brings back none of its hosts', async (t) => {
  const observed = servicesOf<Inside>(hosts);
  await using panel = await TestPanel.boot({ plugins: [observed.plugin, new FakeEngine().plugin] });
  const { db, self, store, service } = observed.services;
  const stays = await panel.addInbound();
  const edits: Readonly<Record<string, (ids: readonly string[]) => Promise<unknown>>> = {
    setEnable: (ids) => service.setEnable(ids, false, self),
    reorder: (ids) => service.reorder(ids, self),
    delete: (ids) => service.delete(ids, self),
  };
  for (const [name, edit] of Object.entries(edits)) {
    const goes = await panel.addInbound();
    const add = (groupId: string, inboundIds: number[]) =>
      service.add({ groupId, remark: groupId, inboundIds }, self);
    await add(`${name}-both`, [stays, goes]);
    await add(`${name}-alone`, [goes]);
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => void (release = resolve));
    const deletion = db.write(async (tx) => {
      await gate;
      await tx.run('DELETE FROM inbounds WHERE id = :goes', { goes });
      await store.inboundsDeleted(tx, [goes]);
    });
    // Its write waits behind the deletion.
    const outcome = edit([`${name}-both`, `${name}-alone`]);
    await new Promise(setImmediate);
    release();
    await deletion;
    t.deepEqual(await outcome, { count: 1, unknown: [`${name}-alone`] }, name);
    t.deepEqual(comparable(store.memory.state), comparable(await store.memory.fresh()), name);
  }
  t.deepEqual([...store.memory.state.groups.keys()].sort(), ['reorder-both', 'setEnable-both']);
});

// Runs on every database.
// What the store writes and says beyond single edits: thousands at once, the same at once, limits, fetches.
import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { type Database, definePlugin, type Principal, tap, type Tx } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import { type ClientChange, duringClientSave } from '../contract.js';
import type { BulkOperations } from '../edits/bulk-operations.js';
import type { ClientService } from '../edits/client-service.js';
import clients from '../index.js';
import { ClientStore } from '../model/client-store.js';
import { depletionOf } from '../model/depletion.js';
import { newClient } from '../model/new-client.js';
import { Roster } from '../model/roster.js';

interface Inside {
  readonly db: Database;
  readonly self: Principal;
  readonly store: ClientStore;
  readonly service: ClientService;
  readonly bulk: BulkOperations;
}
const NOW = 1_000_000;

test('thousands of clients of one call, two attachments at once, and limits: each is in memory as in the database, and said', async (t) => {
  const clock = new FakeClock();
  const heard: ClientChange[] = [];
  const observed = servicesOf<Inside>(clients);
  const listener = definePlugin({
    name: 'listener',
    version: '1.0.0',
    api: 1,
    about: 'Receives clients.',
    taps: () => [tap(duringClientSave, ({ changes }) => void heard.push(...changes))],
  });
  await using panel = await TestPanel.boot({
    plugins: [observed.plugin, listener, new FakeEngine().plugin],
    clock,
  });
  const { db, self, store, service, bulk } = observed.services;
  const [first, second] = [await panel.addInbound(), await panel.addInbound()];
  const matches = async (when: string): Promise<void> => {
    t.deepEqual(store.roster.ordered('id'), (await store.projection.fresh()).ordered('id'), when);
  };

  // More than one statement takes, each with values of its own.
  const emails = Array.from({ length: 2_003 }, (_, i) => `c${i}`);
  const { created, skipped } = await service.addMany(
    emails.map((email, i) => ({ client: { email, totalGB: 1_000 + i }, inboundIds: [first] })),
    self,
  );
  t.deepEqual([created, skipped.length, store.roster.size], [2_003, 0, 2_003]);
  await matches('added');
  const wanted = { addDays: 0, addBytes: 7, flow: '', limitHwid: undefined, adTag: '' };
  t.is((await bulk.adjust(emails, wanted, self)).adjusted, 2_003);
  t.deepEqual(
    [0, 999, 1_000, 1_001, 2_002].map((i) => store.byEmail(`c${i}`)?.totalGB),
    [1_007, 2_006, 2_007, 2_008, 3_009],
  );
  await matches('adjusted');

  // Both are planned before either is written.
  const attached = await Promise.all([1, 2].map(() => bulk.attach(['c1'], [second], self)));
  t.deepEqual(
    attached.map(({ errors }) => errors),
    [[], []],
  );
  t.deepEqual(store.byEmail('c1')?.inboundIds, [first, second]);
  await matches('attached twice');
  const reply = await panel.get<{ traffic: { inboundId: number } }>('/panel/api/clients/get/c1');
  t.is(reply.traffic.inboundId, first);

  // All three find the client in memory, and are written in this order.
  heard.length = 0;
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const held = db.write(() => opened);
  const calls: Promise<unknown>[] = [];
  for (const call of [
    () => bulk.delete(['c5'], false, self),
    () => bulk.delete(['c5'], false, self),
    () => service.update('c5', { comment: 'x' }, self),
  ]) {
    calls.push(call());
    await setImmediate();
  }
  open();
  await held;
  const [one, two, three] = await Promise.allSettled(calls);
  t.is(one?.status === 'fulfilled' && (one.value as { deleted: number }).deleted, 1);
  t.is(two?.status === 'fulfilled' && (two.value as { deleted: number }).deleted, 0);
  t.is(
    three?.status === 'rejected' && (three.reason as Error).message,
    'the client c5 was deleted meanwhile',
  );
  t.deepEqual(
    heard.map(({ kind }) => kind),
    ['deleted'],
  );

  const twice = await service.addMany(
    ['d', 'D', 'e'].map((email) => ({ client: { email }, inboundIds: [first] })),
    self,
  );
  t.is(twice.created, 2);
  t.deepEqual(
    twice.skipped.map(({ index, code }) => [index, code]),
    [[1, 'CLIENTS_EMAIL_TAKEN']],
  );

  const before = store.byEmail('d')?.updatedAt ?? 0;
  clock.tick(1_000);
  await bulk.regroup(bulk.find(['d']), 'family', self, async () => undefined);
  t.is(store.byEmail('d')?.updatedAt, before + 1_000);
  await matches('deleted, added and regrouped');

  heard.length = 0;
  const id = store.byEmail('c1')?.id ?? 0;
  await db.write((tx) => store.deplete(tx, [{ id, cause: 'quota' }], self));
  t.deepEqual(
    heard.map(({ kind, before, after }) => [kind, before?.enable, after?.enable, after?.depletedCause]),
    [['updated', true, false, 'quota']],
  );

  // The clients are read again between a fetch and its write.
  store.fetched(id, NOW);
  await store.projection.load();
  t.is(store.byId(id)?.lastSubFetch, 0);
  await store.fetches.flush();
  t.is(store.byId(id)?.lastSubFetch, NOW);
  await matches('fetched');
});

test('fetches that cannot be written are part of the next write', async (t) => {
  const roster = new Roster();
  const related = { inboundIds: [], credentials: null, up: 0, down: 0, lastOnline: 0, lastSubFetch: 0 };
  const row = (id: number) => ({ ...newClient({ email: `c${id}` }, 5), ...related, id });
  await roster.apply({ added: [row(1), row(2)] });
  let isFull = true;
  const written: unknown[] = [];
  const tx = {
    sql: { rows: () => '', incoming: () => '', greatest: '', onConflict: () => '' },
    run: async (_: string, { rows }: { rows: string }) => void written.push(JSON.parse(rows)),
    apply: () => undefined,
  } as unknown as Tx;
  const db = {
    projection: () => ({ state: roster }),
    write: async (work: (open: Tx) => Promise<void>) => {
      if (isFull) throw new Error('the disk is full');
      await work(tx);
    },
  } as unknown as Database;
  const store = new ClientStore({ db });
  store.fetched(1, NOW);
  await t.throwsAsync(store.fetches.flush(), { message: 'the disk is full' });
  store.fetched(2, NOW + 1);
  isFull = false;
  await store.fetches.flush();
  await store.fetches.flush();
  t.deepEqual(written, [
    [
      [1, NOW],
      [2, NOW + 1],
    ],
  ]);
});

test('a limit is reached at its value, not one beyond it', (t) => {
  const client = { totalGB: 10, expiryTime: NOW, up: 4, down: 5 };
  t.is(depletionOf(client, NOW - 1), undefined);
  t.is(depletionOf(client, NOW), 'expiry');
  t.is(depletionOf({ ...client, down: 6 }, NOW), 'quota');
  t.is(depletionOf({ ...client, expiryTime: -1, totalGB: 0 }, NOW), undefined);
});

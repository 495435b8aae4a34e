// Runs on every database.
// A month of a thousand clients, on a clock of the test: at its end all sums agree, and the audit can be read.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { FakeEngine, TestPanel, weirCommand } from '../harness/index.js';
import { onSqlite } from '../harness/database.js';
import { invariants } from '../harness/invariants.js';
import { type Bytes, sum } from './ledger.js';
import { type Month, openMonth } from './month.js';

interface Listed {
  readonly id: number;
  readonly email: string;
  readonly enable: boolean;
  readonly expiryTime: number;
  readonly traffic: Bytes & { readonly resetCount: number };
}
interface Day extends Bytes {
  readonly day: string;
}
interface Change {
  readonly id: number;
  readonly at: number;
  readonly who: string;
  readonly whoKind: string;
  readonly area: string;
  readonly kind: string;
  readonly name: string;
}
/** Upgrades bring these, with their tables and their columns of clients. */
const FIRST_RELEASE_LACKS = ['alarms', 'global-traffic', 'hosts'];
const SECOND_RELEASE_LACKS = ['devices', 'outbound-subs', 'metrics'];
const NOTHING: Bytes = { up: 0, down: 0 };
const clientsOf = (panel: TestPanel) => panel.get<Listed[]>('/panel/api/clients/list');
const daysOf = (panel: TestPanel, email: string) =>
  panel.get<Day[]>(`/panel/api/x/usage-by-day/clients/${email}?from=2026-03-01&to=2026-04-01`);

async function changesOf(panel: TestPanel): Promise<Change[]> {
  const all: Change[] = [];
  for (;;) {
    const before = all.length > 0 ? `&before=${all.at(-1)?.id}` : '';
    const page = await panel.get<Change[]>(`/panel/api/x/audit/changes?limit=200${before}`);
    all.push(...page);
    if (page.length < 200) return all;
  }
}

/** Each client and each of its days has the bytes that went through the core, and so have the inbounds. */
async function compareSums(t: ExecutionContext, { ledger }: Month, panel: TestPanel): Promise<void> {
  let ofDays = NOTHING;
  for (const { id, email, traffic } of await clientsOf(panel)) {
    t.like(traffic, ledger.current.get(id) ?? NOTHING, email);
    const days = await daysOf(panel, email);
    const wrong = days.filter(({ day, up, down }) => {
      const expected = ledger.days.get(id)?.get(day) ?? NOTHING;
      return up !== expected.up || down !== expected.down;
    });
    t.deepEqual(wrong, [], email);
    ofDays = sum([ofDays, ...days]);
  }
  t.deepEqual(ofDays, sum([...ledger.days.values()].flatMap((days) => [...days.values()])));
  for (const { id, up, down } of await panel.get<(Bytes & { id: number })[]>(
    '/panel/api/inbounds/list?stats=0',
  ))
    t.deepEqual({ up, down }, ledger.inbounds.get(id), `inbound ${id}`);
}

/** Every edit of the admin is in the audit once, in order, and so is what the panel did by itself. */
async function readAudit(t: ExecutionContext, { edits, events }: Month, panel: TestPanel): Promise<void> {
  const changes = (await changesOf(panel)).toReversed();
  const counts = new Map<string, number>();
  for (const { whoKind, area, kind } of changes) {
    const what = `${whoKind}: ${area} ${kind}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  for (const [what, times] of edits) t.is(counts.get(`session: ${what}`), times, what);
  t.true((counts.get('plugin: client updated') ?? 0) >= events.renewed + events.depleted);
  t.true(changes.every(({ at }, i) => at >= (changes[i - 1]?.at ?? 0)));
  t.true(changes.every(({ who, name }) => who !== '' && name !== ''));
  const { problems } = await panel.get<{ problems: readonly unknown[] }>('/panel/api/x/audit/verify', {
    method: 'POST',
  });
  t.deepEqual(problems, []);
}

interface Backup {
  readonly manifest: {
    readonly name: string;
    readonly createdAt: number;
    readonly encryption: string;
    readonly counts: Bytes & { readonly clients: number };
  };
  readonly verification: { readonly state: string; readonly method: string };
}
const backupsOf = (panel: TestPanel) => panel.get<Backup[]>('/panel/api/x/backup/list');

/** Sleeps over the hour of the backup, and compares what the backup says of itself. */
async function backedUp(t: ExecutionContext, month: Month): Promise<void> {
  const before = month.used;
  await month.rest();
  const [{ manifest, verification } = t.fail('there is no backup')] = await backupsOf(month.panel);
  t.is(month.dayOf(manifest.createdAt), month.today);
  t.is(manifest.encryption, 'recipients');
  t.like(verification, { state: 'verified', method: 'restored' });
  const { clients, up, down } = manifest.counts;
  t.is(clients, month.clients.size);
  // Clients may renew in the same hour.
  const isBefore = up === before.up && down === before.down;
  t.deepEqual({ up, down }, isBefore ? before : month.used, month.today);
}

async function liveThrough(t: ExecutionContext, month: Month, days: number): Promise<void> {
  for (let day = 0; day < days; day++)
    for (let hour = 0; hour < 24; hour++) {
      await month.traffic();
      t.deepEqual(month.overTheirLimit(), [], `${month.today}, hour ${hour}`);
      if (hour === 10) await month.administer();
      await (month.hour === 3 ? backedUp(t, month) : month.rest());
    }
}

test('a month with renewals, resets, alarms, two upgrades and a restore', async (t) => {
  t.timeout(900_000);
  const checks = invariants();
  const month = await openMonth({
    without: [...FIRST_RELEASE_LACKS, ...SECOND_RELEASE_LACKS],
    outside: [checks.plugin],
  });
  t.teardown(() => month.panel[Symbol.asyncDispose]());
  const { generateIdentity, identityToRecipient } = await import('age-encryption');
  const identity = await generateIdentity();
  await month.backUp(await identityToRecipient(identity));
  await liveThrough(t, month, 10);
  await month.upgrade({ without: SECOND_RELEASE_LACKS, outside: [checks.plugin] });
  await month.alarm(1);
  await liveThrough(t, month, 10);
  await month.alarm(0);
  await month.upgrade({ outside: [checks.plugin] });
  await liveThrough(t, month, 11);

  const { panel, events } = month;
  t.is(month.today, '2026-04-01');
  t.log(events);
  t.true(events.renewed > 500 && events.depleted > 500 && events.resets > 500);
  t.deepEqual(events.alarms, ['disk on', 'disk off']);
  await compareSums(t, month, panel);
  await readAudit(t, month, panel);
  t.deepEqual(await checks.broken(), []);
  t.deepEqual(panel.faults, []);

  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  // The backups of a week, of four Sundays before, and of the month.
  const backups = await backupsOf(panel);
  t.true(backups.length >= 9 && backups.length <= 12, `${backups.length} backups`);
  const last = await panel.get<Backup>('/panel/api/x/backup/run', { method: 'POST' });
  const file = join(panel.dataDirectory, 'backups', last.manifest.name);
  await writeFile(join(folder, 'identity'), identity);
  const data = join(folder, 'data');
  const key = join(panel.dataDirectory, 'secrets.key');
  const env = { WEIR_DATABASE_URL: '' };
  const restored = await weirCommand(
    data,
    ['restore', file, '--identity', join(folder, 'identity'), '--key', key],
    env,
  );
  t.is(restored.code, 0, restored.complained);
  const engine = new FakeEngine();
  engine.epoch = 'another core';
  const others = invariants();
  await using other = await TestPanel.boot({
    clock: month.clock,
    dataDirectory: data,
    plugins: [engine.plugin],
    outside: [others.plugin],
    env,
  });
  t.log(onSqlite ? 'restored from SQLite' : 'restored from MariaDB');
  t.deepEqual(await clientsOf(other), await clientsOf(panel));
  await compareSums(t, month, other);
  await readAudit(t, month, other);
  t.deepEqual(await others.broken(), []);
});

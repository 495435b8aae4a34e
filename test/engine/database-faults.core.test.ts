// Runs on every database in test:full.
// The database fails while a real core serves: bytes count once, limits act, edits say why, and nobody is blamed.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { ByteServer } from '../../plugins/engine/xray/test/traffic.js';
import { DatabaseProxy, plainUser, setReadOnly } from '../harness/database-proxy.js';
import { databaseOf, onSqlite } from '../harness/database.js';
import { testUnless } from '../harness/left-out.js';
import type { LoggedPanel } from '../harness/logged-panel.js';
import { SmallDisk } from '../harness/small-disk.js';
import { agrees } from './agrees.js';
import type { CorePanel } from './core-panel.js';
import { connect, MIB, openPanel, openServer, poll, spawnPanel, usageOf, within } from './user.js';

interface Fault {
  readonly dataDirectory: string;
  readonly env?: Readonly<Record<string, string>>;
  /** the answer to an edit meanwhile */
  readonly status: number;
  readonly code: string;
  readonly says: RegExp;
  /** the reason of an error that the log may have besides the one of the database */
  readonly alsoFails?: RegExp;
  begin(): Promise<void> | void;
  end(): Promise<void> | void;
}
type Make = (t: ExecutionContext) => Promise<Fault>;

const fullDisk: Make = async (t) => {
  const disk = SmallDisk.mount(t, 16);
  return {
    dataDirectory: join(disk.path, 'data'),
    status: 507,
    code: 'KERNEL_STORAGE',
    says: /nothing was saved; free space/,
    // SQLite still commits while its log file has space of its own; the file of the core has none.
    alsoFails: /core\.json cannot be written: ENOSPC/,
    begin: () => disk.fill(),
    end: () => disk.free(),
  };
};
const awayServer: Make = async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  const proxy = await DatabaseProxy.open(t, (await databaseOf(dataDirectory)) ?? '');
  return {
    dataDirectory,
    env: { WEIR_DATABASE_URL: proxy.url },
    status: 503,
    code: 'KERNEL_DATABASE_AWAY',
    says: /does not answer, so nothing was saved/,
    begin: () => proxy.close(),
    end: () => proxy.listen(),
  };
};
const readOnlyServer: Make = async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  const url = (await databaseOf(dataDirectory)) ?? '';
  const own = await plainUser(t, url);
  t.teardown(() => setReadOnly(url, false));
  return {
    dataDirectory,
    env: { WEIR_DATABASE_URL: own },
    status: 503,
    code: 'KERNEL_DATABASE_READ_ONLY',
    says: /is read-only, so nothing was saved/,
    begin: () => setReadOnly(url, true),
    end: () => setReadOnly(url, false),
  };
};

const BEGINS = 'the database fails; nothing can be saved until it works again';
const ENDS = 'the database works again';
const times = (panel: LoggedPanel, line: string): number =>
  panel.log.filter(({ msg }) => msg === line).length;
const healthOf = async (panel: LoggedPanel): Promise<readonly [number, string]> => {
  const { status, text } = await panel.call('/healthz', { anonymous: true });
  return [status, text];
};
const add = (panel: LoggedPanel, email: string, inbound: number) =>
  panel.call('/panel/api/clients/add', { body: { client: { email }, inboundIds: [inbound] } });

/** Edits without a pause, four at a time; `stop` resolves with the statuses that came and the emails that were acknowledged. */
function load(panel: LoggedPanel, inbound: number) {
  const acknowledged: string[] = [];
  const statuses = new Set<number>();
  let isOver = false;
  const edit = async (name: string): Promise<void> => {
    for (let i = 0; !isOver; i++) {
      const email = `${name}${i}`;
      const { status } = await add(panel, email, inbound);
      statuses.add(status);
      if (status === 200) acknowledged.push(email);
      await sleep(20);
    }
  };
  const ended = Promise.all(['w', 'x', 'y', 'z'].map(edit));
  return { stop: async () => ((isOver = true), await ended, { acknowledged, statuses }) };
}

async function download(
  t: ExecutionContext,
  panel: LoggedPanel,
  email: string,
  server: ByteServer,
  mib: number,
) {
  const user = await connect(t, panel, email, server);
  t.is(await user.download(mib * MIB), mib * MIB);
  return user;
}

/** What a panel does from the beginning of a fault to its end. */
async function passes(t: ExecutionContext, fault: Fault): Promise<void> {
  const { dataDirectory, env } = fault;
  const panel = await openPanel(t, { dataDirectory, ...(env && { env }) });
  const server = await openServer(t);
  const inbound = await panel.addInbound();
  const small = await panel.addInbound({ total: 3 * MIB });
  await panel.addClient('ann', [inbound]);
  await panel.addClient('bob', [inbound], { totalGB: 3 * MIB });
  await panel.addClient('cyd', [inbound], { expiryTime: Date.now() + 8_000 });
  await panel.addClient('dan', [small]);
  const ann = await download(t, panel, 'ann', server, 1);
  const bob = await download(t, panel, 'bob', server, 1);
  const cyd = await download(t, panel, 'cyd', server, 1);
  const dan = await download(t, panel, 'dan', server, 1);
  await poll(panel);
  t.is((await healthOf(panel))[0], 200);

  const edits = load(panel, inbound);
  await sleep(500);
  await fault.begin();
  await Promise.all([ann, bob, dan].map((user) => user.download(4 * MIB)));
  const users = [bob, cyd, dan];
  for (const user of users)
    await panel.until(async () => (await poll(panel), !(await user.served())), 'the core has cut the client');
  t.true(await ann.served());
  for (let i = 0; i < 25; i++) {
    const { status, body } = await add(panel, `eve${i}`, inbound);
    t.deepEqual(
      [status, body.code],
      [fault.status, fault.code],
      JSON.stringify(panel.log.filter(({ level }) => level === 'error')),
    );
    t.regex(body.msg, fault.says);
  }
  const [status, text] = await healthOf(panel);
  t.is(status, 503);
  t.notRegex(text, /database|disk|full|mysql|sqlite/i);
  t.is((await panel.call('/panel/api/clients/get/ann')).status, 200);
  t.deepEqual([times(panel, BEGINS), times(panel, ENDS)], [1, 0]);

  await fault.end();
  await panel.until(async () => (await healthOf(panel))[0] === 200, 'the panel works again');
  await panel.until(async () => !(await usageOf(panel, 'bob')).enable, 'the row follows');
  const { acknowledged, statuses } = await edits.stop();
  t.deepEqual([...statuses].sort(), [200, fault.status]);
  const stored = new Set(
    (await panel.get<{ email: string }[]>('/panel/api/clients/list')).map(({ email }) => email),
  );
  t.deepEqual(
    acknowledged.filter((email) => !stored.has(email)),
    [],
  );
  await poll(panel);
  t.true(within((await usageOf(panel, 'ann')).down, 5 * MIB + 1000));
  t.true(within((await usageOf(panel, 'bob')).down, 5 * MIB));
  t.false((await usageOf(panel, 'cyd')).enable);
  t.true((await usageOf(panel, 'dan')).enable);
  t.false((await panel.get<{ enable: boolean }>(`/panel/api/inbounds/get/${small}`)).enable);
  for (const user of users) t.false(await user.served());
  await panel.call('/panel/api/system/jobs/usage-by-day/move', { method: 'POST' });
  await recordsAgree(t, panel);
  t.true(await ann.served());
  await panel.get('/panel/api/clients/resetTraffic/bob', { method: 'POST' });
  t.true(await bob.served(), 'a client that was withheld comes back');
  t.is((await add(panel, 'eve', inbound)).status, 200);
  t.deepEqual(panel.faults, []);
  t.deepEqual([times(panel, BEGINS), times(panel, ENDS)], [1, 1]);
  t.deepEqual(
    panel.log
      .filter(({ level, reason }) => level === 'error' && !fault.alsoFails?.test(String(reason)))
      .map(({ msg }) => msg),
    [BEGINS],
  );
}

/** Names of all clients that the audit says were added. */
async function addedByAudit(panel: LoggedPanel): Promise<string[]> {
  interface Change {
    readonly id: number;
    readonly name: string;
  }
  const names: string[] = [];
  for (let before = ''; ; ) {
    const path = `/panel/api/x/audit/changes?area=client&kind=added&limit=200${before}`;
    const page = await panel.get<Change[]>(path);
    names.push(...page.map(({ name }) => name));
    if (page.length < 200) return names;
    before = `&before=${page.at(-1)?.id}`;
  }
}

/** Audit, days, memory and core agree with the accounts, whatever the database did. */
async function recordsAgree(t: ExecutionContext, panel: CorePanel): Promise<void> {
  const clients = await panel.get<{ email: string }[]>('/panel/api/clients/list');
  t.deepEqual((await addedByAudit(panel)).sort(), clients.map(({ email }) => email).sort());
  const { problems } = await panel.get<{ problems: string[] }>('/panel/api/x/audit/verify', { body: {} });
  t.deepEqual(problems, []);
  const { up, down } = await usageOf(panel, 'ann');
  const days = await panel.get<{ up: number; down: number }[]>('/panel/api/x/usage-by-day/clients/ann');
  const sum = (of: 'up' | 'down') => days.reduce((all, day) => all + day[of], 0);
  t.deepEqual([sum('up'), sum('down')], [up, down]);
  await agrees(t, panel);
}

/** The panel is killed in the middle of a fault; its core serves on. */
async function killed(t: ExecutionContext, fault: Fault): Promise<void> {
  const { dataDirectory, env } = fault;
  const first = await spawnPanel(t, { dataDirectory, ...(env && { env }) });
  const server = await openServer(t);
  const inbound = await first.addInbound();
  await first.addClient('ann', [inbound]);
  const ann = await download(t, first, 'ann', server, 1);
  await poll(first);
  await fault.begin();
  t.is(await ann.download(2 * MIB), 2 * MIB);
  await poll(first);
  t.is((await add(first, 'eve', inbound)).status, fault.status);
  await first.kill('SIGKILL');
  await fault.end();
  const second = await openPanel(t, { dataDirectory, ...(env && { env }) });
  t.is(await ann.download(MIB), MIB);
  await poll(second);
  t.true(within((await usageOf(second, 'ann')).down, 4 * MIB));
  t.is((await second.call('/panel/api/clients/get/eve')).status, 404);
  await agrees(t, second);
}

/** What the database has and nobody was told reaches the core. */
async function unanswered(t: ExecutionContext): Promise<void> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  const proxy = await DatabaseProxy.open(t, (await databaseOf(dataDirectory)) ?? '');
  const panel = await openPanel(t, { dataDirectory, env: { WEIR_DATABASE_URL: proxy.url } });
  const server = await openServer(t);
  const inbound = await panel.addInbound();
  await panel.addClient('ann', [inbound]);
  const ann = await connect(t, panel, 'ann', server);
  t.true((await ann.served()) || (await ann.served()));
  proxy.loseAnswers(1);
  const { status, body } = await panel.call('/panel/api/clients/del/ann', { body: {} });
  t.is(status, 503);
  t.regex(body.msg, /it may be saved or not/);
  await panel.until(
    async () => (await panel.call('/panel/api/clients/get/ann')).status === 404,
    'memory follows the database',
  );
  await panel.until(async () => !(await ann.served()), 'the core follows');
  await agrees(t, panel);
  t.deepEqual(panel.faults, []);
}

const scenes = { 'works on and counts once': passes, 'loses nothing to a kill -9': killed };
const onDisk = onSqlite ? testUnless(SmallDisk.obstacle()) : () => undefined;
const onServer = onSqlite ? () => undefined : test.serial;
for (const [title, scene] of Object.entries(scenes)) {
  onDisk(`a full disk: the panel ${title}`, async (t) => scene(t, await fullDisk(t)));
  onServer(`a server that is away: the panel ${title}`, async (t) => scene(t, await awayServer(t)));
  onServer(`a read-only server: the panel ${title}`, async (t) => scene(t, await readOnlyServer(t)));
}
onServer('an edit whose commit was not answered reaches the core', unanswered);

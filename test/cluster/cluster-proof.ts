// The proof of several panels on one database with real parts: everything may die, and nothing that was acknowledged is lost.
import { setTimeout as sleep } from 'node:timers/promises';
import { random } from '../harness/random.js';
import { table } from '../bench/report.js';
import { verdict } from '../node-soak/checks.js';
import { Users } from '../node-soak/users.js';
import type { Verdict } from '../soak/verdict.js';
import { percentile } from '../soak/verdict.js';
import * as checks from './checks.js';
import { Editor } from './editors.js';
import { Faults } from './faults.js';
import { fetches, Sockets } from './readers.js';
import { Watch } from './watch.js';
import { World, type Writers } from './world.js';

/** As examples/cluster/haproxy.cfg has it. */
const USERS_PORT = 20_443;
const USERS = 6;
const EDITORS = 4;
const EDIT_PAUSE_MS = 700;
const SOCKETS = 6;
const FETCHES_A_SECOND = 10;
const MINUTE_MS = 60_000;
const WELL_LIMIT_MS = 120_000;

export interface ClusterProofOptions {
  /** of the core */
  readonly binary: string;
  readonly seconds: number;
  readonly writers: Writers;
  /** `leader`: the panel that leads has a core; `own`: each has one */
  readonly cores: 'leader' | 'own';
  readonly seed: number;
  /** without faults: the parts work together */
  readonly calm?: boolean;
  readonly say: (text: string) => void;
  /** each fault, as it comes */
  readonly note?: (text: string) => void;
}

const emailOf = (n: number): string => `user${n}`;

/** All panels run, one of them leads, and there are as many cores as should be. */
export async function well(world: World, cores: ClusterProofOptions['cores']): Promise<void> {
  for (const deadline = Date.now() + WELL_LIMIT_MS; ; await sleep(500)) {
    const leaders = world.panels.filter(({ leads }) => leads);
    const pids = await Promise.all(
      (cores === 'own' ? world.panels : leaders).map((panel) => panel.corePid()),
    );
    const areCoresUp = pids.every((pid) => pid !== undefined);
    const answers = await Promise.all(
      world.panels.map(
        ({ isUp, panel }) => isUp && panel.call('/healthz').then(({ status }) => status === 200),
      ),
    ).catch(() => [false]);
    if (leaders.length === 1 && areCoresUp && answers.every(Boolean)) return;
    if (Date.now() > deadline)
      throw new Error(
        `the panels do not get well: ${leaders.length} lead, ${JSON.stringify(answers)}: ${world.panels.map(({ name, log }) => `${name} ${JSON.stringify(log.slice(-4))}`).join('\n')}`,
      );
  }
}

interface Load {
  readonly users: Users;
  readonly editors: readonly Editor[];
  readonly fetched: ReturnType<typeof fetches>;
  readonly sockets: Sockets;
  readonly watch: Watch;
}

async function startLoad(world: World, { binary, seconds }: ClusterProofOptions): Promise<Load> {
  const [first] = world.panels;
  if (!first) throw new Error('there is no panel');
  const { panel } = first;
  const leftOut = panel.said('a plugin is left out');
  if (leftOut) throw new Error(JSON.stringify(leftOut));
  await panel.login();
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'proof' },
  });
  const inboundId = await panel.addInbound({ listen: '0.0.0.0', port: USERS_PORT, remark: 'users' });
  const links: string[] = [];
  const subscriptions: { url: string; has: string }[] = [];
  const path = new URL(panel.ready.subUrl).pathname;
  for (let n = 0; n < USERS; n++) {
    const { subId, uuid } = await panel.addClient(emailOf(n), [inboundId]);
    const [link = ''] = await panel.get<string[]>(`/panel/api/clients/links/${emailOf(n)}`);
    // Users come through the balancer.
    links.push(link.replace(/@[^?/]*:\d+/, `@${world.front.machine.host}:${USERS_PORT}`));
    subscriptions.push({ url: world.subUrl(path + subId), has: uuid });
  }
  // Ends amid the faults: no core may serve it afterwards.
  await panel.addClient('guest', [inboundId], { expiryTime: Date.now() + seconds * 500 });
  await world.front.passes(USERS_PORT);
  const pairs = links.map((link, n) => ({ link, slot: n, inbound: 0 }));
  const users = await Users.start(binary, pairs, world.places.home);
  const watch = new Watch(
    world.panels,
    () => users,
    () => pairs.length,
  );
  watch.begin();
  for (const { slot } of pairs) users.begin(slot);
  const editors = Array.from(
    { length: EDITORS },
    (_, n) =>
      new Editor({ url: world.panelUrl, token, name: `editor${n}`, inboundId, pauseMs: EDIT_PAUSE_MS }),
  );
  for (const editor of editors) editor.begin();
  return {
    users,
    editors,
    watch,
    fetched: fetches(() => subscriptions, FETCHES_A_SECOND),
    sockets: new Sockets(world.panelUrl, () => panel.cookie, SOCKETS),
  };
}

function summary(load: Load, faults: Faults): string {
  const { editors, fetched, sockets } = load;
  const latencies = editors.flatMap((editor) => editor.latencies);
  const refusals = new Map<string, number>();
  for (const editor of editors)
    for (const [what, count] of editor.refusals) refusals.set(what, (refusals.get(what) ?? 0) + count);
  const counts = new Map<string, number>();
  for (const { kind } of faults.done) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const list = (map: ReadonlyMap<string, number>) =>
    [...map].map(([what, count]) => `${count} × ${what}`).join(', ') || 'none';
  const ms = (share: number) => Math.round(percentile(latencies, share));
  return [
    `faults: ${list(counts)}; ${faults.byThemselves} times a panel ended by itself, ${faults.serversByThemselves} times a database server`,
    `edits with their repetitions: half within ${ms(0.5)} ms, 99 % within ${ms(0.99)} ms; replies that were no success: ${list(refusals)}`,
    `fetches: ${fetched.seen.done} answered, ${fetched.seen.failed} not (${((100 * fetched.seen.failed) / Math.max(1, fetched.seen.done + fetched.seen.failed)).toFixed(1)} %)`,
    `sockets: ${sockets.connections} connections, ${sockets.messages} messages`,
    `cores: ${load.watch.cores.length} started`,
  ].join('\n');
}

async function run(world: World, options: ClusterProofOptions): Promise<Verdict[]> {
  const { seconds, seed, cores, say, note = () => undefined, calm = false } = options;
  await Promise.all(world.panels.map((panel) => panel.keepStarting(note)));
  await well(world, cores);
  const load = await startLoad(world, options);
  const faults = new Faults({
    world,
    random: random(seed),
    note,
    twice: (on) => {
      for (const editor of load.editors) editor.twice = on;
    },
  });
  if (!calm) faults.begin();
  const rows: string[][] = [];
  const began = performance.now();
  for (let minute = 1; performance.now() - began < seconds * 1000; minute++) {
    await sleep(Math.min(MINUTE_MS, seconds * 1000 - (performance.now() - began)));
    const sum = (of: (editor: Editor) => number) => load.editors.reduce((all, one) => all + of(one), 0);
    rows.push([
      String(minute),
      String(faults.done.length),
      String(sum(({ acknowledged }) => acknowledged)),
      String(sum(({ repeated }) => repeated)),
      `${load.fetched.seen.done} / ${load.fetched.seen.failed}`,
      (load.watch.moved() / 1e6).toFixed(1),
    ]);
    note(`minute ${rows.at(-1)?.join('; ')}`);
  }
  say(`\n${table(['minute', 'faults', 'edits', 'repeated', 'fetches / failed', 'MB moved'], rows)}`);
  await faults.end();
  await well(world, cores);
  await Promise.all([...load.editors.map((editor) => editor.end()), load.fetched.end(), load.sockets.end()]);
  await load.users.rest();
  for (const panel of world.panels) await panel.panel.login();
  const emails = Array.from({ length: USERS }, (_, n) => emailOf(n));
  const verdicts = [
    await checks.bytes(world, load.users, emails, load.watch, faults.done),
    await checks.agreement(world),
    await checks.invariants(world),
    ...(await checks.edits(world, load.editors)),
    verdict('subscriptions and sockets', 'none is wrong', [
      ...load.fetched.seen.wrong,
      ...load.sockets.wrong,
    ]),
    await checks.runs(world),
    await checks.messages(world, 'user0'),
  ];
  load.watch.end();
  await load.users.stop();
  for (const panel of world.panels) await panel.kill('SIGTERM');
  verdicts.push(await checks.servers(world), checks.logs(world));
  say(summary(load, faults));
  return verdicts;
}

/** Resolves with what held and what did not. */
export async function clusterProof(options: ClusterProofOptions): Promise<readonly Verdict[]> {
  const { say, seed, writers, cores, binary } = options;
  say(
    `WEIR_TEST_SEED=${seed}, ${writers === 'one' ? 'all panels write to one database server' : 'each panel writes to a database server of its own'}, ${cores === 'own' ? 'each panel has a core' : 'the panel that leads has a core'}`,
  );
  const world = await World.open({ binary, writers, messages: true, env: { WEIR_CLUSTER_CORE: cores } });
  try {
    const verdicts = await run(world, options);
    const rows = verdicts.map(({ what, found, wanted, isGood }) => [
      what,
      found,
      wanted,
      isGood ? 'held' : '**not held**',
    ]);
    say(`\n${table(['at the end', 'found', 'wanted', ''], rows)}`);
    return verdicts;
  } finally {
    await world.dispose();
  }
}

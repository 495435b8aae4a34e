// A central, two nodes, and a third below the first one: panels as processes with real cores. Users move bytes all the while,
// admins edit, panels are killed and the ways between them get bad. In the end all panels agree and each byte was counted once.
import { setTimeout as sleep } from 'node:timers/promises';
import { random } from '../harness/random.js';
import { table } from '../bench/report.js';
import type { Verdict } from '../soak/verdict.js';
import { agreement, books, confirmed, verdict } from './checks.js';
import { Domain, type Slot } from './domain.js';
import { Faults } from './faults.js';
import { Loopback, Namespaces, type Places } from './places.js';
import { Site } from './site.js';
import { Users } from './users.js';
import { Way } from './way.js';

const AGREED_LIMIT_MS = 30_000;
const TREE_LIMIT_MS = 60_000;
const EDIT_PAUSE_MS = 700;
/** Each is added once; later ones are for edits. */
const FIRST_CLIENTS = 4;
const MINUTE_MS = 60_000;

export interface NodeSoakOptions {
  /** of the core */
  readonly binary: string;
  readonly seconds: number;
  readonly namespaces: boolean;
  readonly seed: number;
  readonly say: (text: string) => void;
  /** each fault, as it comes */
  readonly note?: (text: string) => void;
}

class World {
  readonly places: Places;
  readonly sites: Site[] = [];
  readonly ways: Way[] = [];
  readonly domains: Domain[] = [];
  users: Users | undefined;

  constructor(places: Places) {
    this.places = places;
  }

  async begin(binary: string): Promise<readonly [Site, Site, Site, Site]> {
    const start = async (name: string) => Site.start(name, await this.places.add(), binary);
    const started = await Promise.allSettled(['central', 'one', 'two', 'three'].map(start));
    for (const result of started) if (result.status === 'fulfilled') this.sites.push(result.value);
    for (const result of started) if (result.status === 'rejected') throw result.reason;
    return this.sites as unknown as readonly [Site, Site, Site, Site];
  }

  async way(from: Site, to: Site): Promise<Way> {
    const way = await Way.open(this.places, from, to);
    this.ways.push(way);
    return way;
  }

  async dispose(): Promise<void> {
    await this.users?.stop();
    for (const way of this.ways) way.close();
    await Promise.all(this.sites.map((site) => site.dispose()));
    await this.places.close();
  }
}

async function setUp(world: World, { binary, seconds, seed }: NodeSoakOptions) {
  // The third one is below the first one.
  const [central, one, two, three] = await world.begin(binary);
  const slots = Math.max(12, Math.ceil(seconds / 4));
  const domain = async (name: string, site: Site, nodes: readonly Site[], number: number) => {
    const made: Domain = new Domain({
      name,
      site,
      slots,
      random: random(seed + number),
      began: (slot) => begin(made, slot),
    });
    world.domains.push(made);
    const ways: Way[] = [];
    for (const node of nodes) ways.push(await world.way(site, node));
    await made.setUp(ways);
    return made;
  };
  const begin = (of: Domain, slot: Slot): void =>
    world.users?.begin((of === world.domains[0] ? 0 : slots) + slot.number);
  const upper = await domain('c', central, [one, two], 1);
  const lower = await domain('n', one, [three], 2);
  const pairs = [...upper.pairs(0, 0), ...lower.pairs(upper.slots.length, upper.inbounds.length)];
  const users = await Users.start(binary, pairs, world.places.home);
  world.users = users;
  for (const of of world.domains) for (const slot of of.slots.slice(0, FIRST_CLIENTS)) await of.add(slot);
  return { central, three, pairs, users };
}

async function run(world: World, options: NodeSoakOptions): Promise<Verdict[]> {
  const { seconds, seed, say, note = () => undefined } = options;
  const { central, three, pairs, users } = await setUp(world, options);
  const faults = new Faults({
    random: random(seed),
    sites: world.sites,
    ways: world.ways,
    hasPackets: world.places.kind === 'namespaces',
    log: note,
  });
  const moved = () =>
    pairs.reduce((all, _, n) => all + users.moved(n).up.least + users.moved(n).down.least, 0);
  const edits = () =>
    world.domains.reduce((all, { done, failed }) => [(all[0] ?? 0) + done, (all[1] ?? 0) + failed], [0, 0]);
  for (const domain of world.domains) domain.begin(EDIT_PAUSE_MS);
  faults.begin();
  const rows: string[][] = [];
  const began = performance.now();
  for (let minute = 1; performance.now() - began < seconds * 1000; minute++) {
    const left = seconds * 1000 - (performance.now() - began);
    await sleep(Math.min(MINUTE_MS, left));
    rows.push([
      String(minute),
      (moved() / 1e6).toFixed(1),
      edits().join(' / '),
      ...['kill -9', 'partition', 'loss', 'delay', 'cut', 'repeat'].map((kind) =>
        String(faults.counts.get(kind) ?? 0),
      ),
    ]);
    process.stderr.write(`  minute ${rows.at(-1)?.join('; ')}\n`);
  }
  say(
    `\n${table(['minute', 'MB moved', 'edits / failed', 'kill -9', 'partitions', 'loss', 'delay', 'cut', 'repeat'], rows)}`,
  );
  await Promise.all([faults.end(), ...world.domains.map((domain) => domain.end())]);
  const { ms, differences } = await agreement(world.domains, AGREED_LIMIT_MS);
  await users.rest();
  // Users ended meanwhile: nothing more runs out.
  const { differences: later } = await agreement(world.domains, AGREED_LIMIT_MS);
  const wrong = await confirmed(world.domains, pairs, users);
  const { faults: miscounted, served, onNodes, central: counted } = await books(world.domains, pairs, users);
  // A tree is read with every sixth heartbeat.
  const tree = () => central.panel.get<{ name: string; transitive: boolean }[]>('/panel/api/nodes/list');
  const isBelow = (all: Awaited<ReturnType<typeof tree>>) =>
    all.some(({ name, transitive }) => name === three.name && transitive);
  let below = await tree();
  for (
    const deadline = Date.now() + TREE_LIMIT_MS;
    !isBelow(below) && Date.now() < deadline;
    below = await tree()
  )
    await sleep(500);
  const isSeen = isBelow(below);
  const number = (value: number) => value.toLocaleString('en');
  return [
    verdict(
      'states of all panels',
      `equal within ${AGREED_LIMIT_MS / 1000} s of the last fault`,
      differences,
      `equal after ${(ms / 1000).toFixed(1)} s`,
    ),
    verdict('states when users have ended', 'equal', later),
    verdict(
      'what was confirmed to admins; who is served',
      'true: nothing is lost, nothing deleted is back, nobody disabled is served',
      wrong,
      `${pairs.length} pairs of client and inbound are right`,
    ),
    verdict(
      'bytes of each client and inbound',
      'served = counted on the node = counted above, within 0.1 %, and never more',
      miscounted,
      `${number(served)} served, ${number(onNodes)} on the nodes of clients that never left, ${number(counted)} above`,
    ),
    verdict(
      'the node below a node',
      'the central sees it',
      isSeen ? [] : [JSON.stringify(below)],
      'transitive',
    ),
    verdict(
      'errors and faults in the logs',
      'none',
      world.sites.flatMap((site) => site.faults),
    ),
  ];
}

/** Resolves with what held and what did not. */
export async function nodeSoak(options: NodeSoakOptions): Promise<readonly Verdict[]> {
  const { say, seed, namespaces } = options;
  say(`WEIR_TEST_SEED=${seed}, ${namespaces ? 'each panel in a network namespace' : 'all on loopback'}`);
  const world = new World(namespaces ? await Namespaces.make() : new Loopback());
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

// After the last fault: what must hold.
import { setTimeout as sleep } from 'node:timers/promises';
import { Listener } from '../../plugins/realtime/test/listener.js';
import { verdict } from '../node-soak/checks.js';
import type { Users } from '../node-soak/users.js';
import type { Verdict } from '../soak/verdict.js';
import type { Editor } from './editors.js';
import type { Fault } from './faults.js';
import type { ClusterPanel } from './panel.js';
import { BROKEN_PATH, overlaps, type Run } from './probe.js';
import type { Watch } from './watch.js';
import type { World } from './world.js';

const AGREED_LIMIT_MS = 30_000;
const COUNTED_LIMIT_MS = 30_000;
const TOLD_LIMIT_MS = 30_000;
/** A poll runs every five seconds, and a look may come a moment late. */
const POLL_MS = 8_000;
/** A core may end so long after the fault that has ended it: the lease, and the start of the panel that lost it. */
const LATE_MS = 45_000;
/** These end a core in good order: its last bytes are counted before. */
const ORDERLY = 'restart of a panel';

interface Client {
  readonly email: string;
  readonly uuid: string;
  readonly enable: boolean;
  readonly totalGB: number;
  readonly comment: string;
  readonly inboundIds: readonly number[];
  readonly traffic: { readonly up: number; readonly down: number };
}
const API = '/panel/api';
/** Addresses of the machine, from its environment. */
const OWN_SETTINGS = ['webListen', 'subListen'];
export const clientsOf = (panel: ClusterPanel): Promise<Client[]> => panel.panel.get(`${API}/clients/list`);

/** What a panel says of everything that is common to all. */
async function stateOf(panel: ClusterPanel): Promise<Record<string, string>> {
  const clients = (await clientsOf(panel)).map(
    ({ email, uuid, enable, totalGB, comment, inboundIds, traffic: { up, down } }) =>
      [email, uuid, enable, totalGB, comment, [...inboundIds].sort(), up, down] as const,
  );
  const inbounds = await panel.panel.get<Record<string, unknown>[]>(`${API}/inbounds/list`);
  const shown = inbounds.map(({ id, port, remark, enable, tag, up, down }) => [
    id,
    port,
    remark,
    enable,
    tag,
    up,
    down,
  ]);
  // Plugins that start together declare their settings in any order.
  const settings = Object.entries(await panel.panel.get<object>(`${API}/setting/all`, { method: 'POST' }))
    .filter(([name]) => !OWN_SETTINGS.includes(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    clients: JSON.stringify(clients.toSorted(([a], [b]) => (a < b ? -1 : 1))),
    inbounds: JSON.stringify(shown),
    settings: JSON.stringify(settings),
  };
}

/** Waits until all panels say the same; resolves with what differs if they do not. */
export async function agreement(world: World): Promise<Verdict> {
  const began = performance.now();
  let differences: string[] = [];
  for (;;) {
    const states = await Promise.all(world.panels.map(stateOf));
    const [first = {}] = states;
    differences = states.flatMap((state, i) =>
      Object.entries(first).flatMap(([what, text]) =>
        state[what] === text
          ? []
          : [`${what} of ${world.panels[i]?.name}: ${firstDifference(text, state[what])}`],
      ),
    );
    const ms = performance.now() - began;
    if (differences.length === 0 || ms > AGREED_LIMIT_MS)
      return verdict('what the panels say', 'equal', differences, `equal after ${(ms / 1000).toFixed(1)} s`);
    await sleep(500);
  }
}

function firstDifference(one: string, other = ''): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return `…${one.slice(Math.max(0, at - 60), at + 60)}… against …${other.slice(Math.max(0, at - 60), at + 60)}…`;
}

/** In each panel, memory has what the database has, and its core the users that it should have. */
export async function invariants(world: World): Promise<Verdict> {
  const found = await Promise.all(
    world.panels.map(async ({ name, panel }) =>
      (await panel.get<string[]>(BROKEN_PATH)).map((what) => `${name}: ${what}`),
    ),
  );
  return verdict('invariants of the panels', 'held', found.flat());
}

/** Each acknowledged edit is there, once, and nothing else is. */
export async function edits(world: World, editors: readonly Editor[]): Promise<Verdict[]> {
  const [panel] = world.panels;
  if (!panel) throw new Error('there is no panel');
  const clients = new Map((await clientsOf(panel)).map((client) => [client.email, client]));
  const missing: string[] = [];
  const expected = editors.flatMap((editor) => editor.expected);
  for (const { email, there, comments, quotas } of expected) {
    const client = clients.get(email);
    clients.delete(email);
    if (!there.has(client !== undefined)) missing.push(`${email} is ${client ? '' : 'not '}there`);
    if (!client) continue;
    if (!comments.has(client.comment))
      missing.push(`${email} has the comment ${client.comment}, not ${[...comments].join(' or ')}`);
    if (!quotas.has(client.totalGB))
      missing.push(`${email} has the quota ${client.totalGB}, not ${[...quotas].join(' or ')}`);
  }
  const sum = (of: (editor: Editor) => number) => editors.reduce((all, editor) => all + of(editor), 0);
  const strangers = [...clients.keys()].filter((email) =>
    editors.some(({ prefix }) => email.startsWith(prefix)),
  );
  return [
    verdict(
      'acknowledged edits',
      'each is there, once',
      [...missing, ...strangers.map((email) => `nobody has added ${email}`)],
      `${sum(({ acknowledged }) => acknowledged)} are there; ${sum(({ repeated }) => repeated)} repetitions, ${sum(({ givenUp }) => givenUp)} given up`,
    ),
    verdict(
      'refusals of edits',
      'none but those that say "try again"',
      editors.flatMap(({ wrong }) => wrong.map((text) => `${text}; ${loggedFor(world, text)}`)),
    ),
  ];
}

/** What a panel has logged of the call that was answered so. */
function loggedFor(world: World, answer: string): string {
  const [, id] = /"requestId":"([^"]+)"/.exec(answer) ?? [];
  const lines = world.panels.flatMap(({ log }) => log.filter(({ requestId }) => requestId === id));
  return id === undefined ? 'no id' : JSON.stringify(lines[0] ?? 'nothing is logged of it').slice(0, 1_500);
}

/** Bytes of the users: what was moved against what was counted. */
export async function bytes(
  world: World,
  users: Users,
  emails: readonly string[],
  watch: Watch,
  faults: readonly Fault[],
): Promise<Verdict> {
  const [panel] = world.panels;
  if (!panel) throw new Error('there is no panel');
  const windows = uncertain(watch, faults);
  const lossy = watch.movedWithin(windows);
  for (const deadline = Date.now() + COUNTED_LIMIT_MS; ; await sleep(1_000)) {
    const clients = new Map((await clientsOf(panel)).map((client) => [client.email, client]));
    const wrong: string[] = [];
    let [least, counted] = [0, 0];
    for (const [n, email] of emails.entries()) {
      const moved = users.moved(n);
      const traffic = clients.get(email)?.traffic ?? { up: 0, down: 0 };
      for (const way of ['up', 'down'] as const) {
        least += moved[way].least;
        counted += traffic[way];
        if (traffic[way] > moved[way].most)
          wrong.push(`${email}: ${traffic[way]} bytes ${way} are counted, ${moved[way].most} were sent`);
      }
    }
    if (counted < least - lossy)
      wrong.push(
        `${counted} bytes are counted, ${least} were moved, and ${lossy} of them while a core was lost`,
      );
    if (least === 0) wrong.push('nothing was moved');
    if (wrong.length > 0 && Date.now() < deadline) continue;
    const number = (value: number) => value.toLocaleString('en');
    return verdict(
      'bytes of the users',
      'none twice; none lost but those of a core that was lost with its panel',
      wrong,
      `${number(least)} moved, ${number(counted)} counted (${number(least - counted)} fewer); ${number(lossy)} moved in ${windows.length} windows in which a core was lost`,
    );
  }
}

/** When bytes may be lost: from the last poll before the fault until the core of that time has ended. */
function uncertain(watch: Watch, faults: readonly Fault[]): (readonly [number, number])[] {
  return watch.cores.flatMap(({ to }) => {
    if (to === Infinity) return [];
    const causes = faults.filter((fault) => fault.from <= to + 1_000 && fault.to >= to - LATE_MS);
    if (causes.length > 0 && causes.every(({ kind }) => kind === ORDERLY)) return [];
    return [[Math.min(to, ...causes.map(({ from }) => from)) - POLL_MS, to + 1_000] as const];
  });
}

export async function runs(world: World): Promise<Verdict> {
  const [server] = world.galera.servers;
  const events = (await server?.query<Run>('SELECT * FROM x_probe_runs ORDER BY id')) ?? [];
  const panels = new Set(events.map(({ panel }) => panel));
  const found = overlaps(events);
  if (events.length === 0) found.push('no run was noted');
  return verdict(
    'runs of a job',
    'one at a time, in all panels together',
    found,
    `${events.length} begins and ends, by ${panels.size} panels in turn`,
  );
}

/** Sockets at all panels hear what happens in each of them: the counters of `email` are set to zero. */
export async function messages(world: World, email: string): Promise<Verdict> {
  const readers = world.panels.map(({ name, panel }) => ({ name, listener: Listener.plain(panel) }));
  const told = ({ listener }: (typeof readers)[number]): number =>
    listener.messages.filter(({ type, payload }) => type === 'invalidate' && payload['type'] === 'clients')
      .length;
  const missing: string[] = [];
  try {
    await Promise.all(readers.map(({ listener }) => listener.first('snapshot')));
    for (const { name, panel } of world.panels) {
      const before = new Map(readers.map((reader) => [reader, told(reader)]));
      const deaf = () => readers.filter((reader) => told(reader) === before.get(reader));
      for (const deadline = Date.now() + TOLD_LIMIT_MS; deaf().length > 0; await sleep(1_000)) {
        // Refused where another panel writes the same at this moment.
        await panel.call(`${API}/clients/resetTraffic/${email}`, { method: 'POST' });
        if (Date.now() > deadline) break;
      }
      missing.push(
        ...deaf().map((reader) => `who listens to ${reader.name} hears nothing of edits at ${name}`),
      );
    }
  } finally {
    for (const { listener } of readers) listener.close();
  }
  return verdict('live messages', 'of each panel, at all panels', missing);
}

/** When all panels have stopped. */
export async function servers(world: World): Promise<Verdict> {
  return verdict('tables of the database servers', 'equal', await world.galera.differences(), 'equal');
}

/** At a stop the panel waits two seconds for each plugin and job. One that waits for a database which is cut off takes longer. */
const LATE_END = /its (?:end|stop) took longer than/;

const FAULTS = ['plugin fault', 'a plugin is left out'];

/** Faults of plugins; errors are what faults of others make, and are counted only. */
export function logs(world: World): Verdict {
  const faults = world.panels.flatMap((panel) =>
    panel.log.flatMap((line) =>
      FAULTS.includes(line.msg) && !LATE_END.test(JSON.stringify(line))
        ? [`${panel.name}: ${JSON.stringify(line).slice(0, 600)}`]
        : [],
    ),
  );
  return verdict('faults of plugins in the logs', 'none', faults);
}

// One client at a time: what a call costs, and how much of it the calls to the core take.
import { randomUUID } from 'node:crypto';
import type { BenchPanel } from './bench-panel.js';
import { middle, now, within } from './figures.js';
import { mainThreadOf } from './process-figures.js';
import { atMost, type Figure, flat } from './report.js';

const TIMES = 30;
const MORE_MS = 3;
const RATIO = 1.3;

let added = 0;
type Call = (email: string) => readonly [path: string, body?: unknown];

/** In the order in which one client lives through them. */
const edits = (inboundIds: readonly number[]): readonly (readonly [what: string, call: Call])[] => [
  ['add', (email) => ['clients/add', { client: { email }, inboundIds }]],
  ['change the comment', (email) => [`clients/update/${email}`, { comment: `edited ${randomUUID()}` }]],
  ['change the UUID', (email) => [`clients/update/${email}`, { uuid: randomUUID() }]],
  ['disable', (email) => ['clients/bulkDisable', { emails: [email] }]],
  ['enable', (email) => ['clients/bulkEnable', { emails: [email] }]],
  ['delete', (email) => [`clients/del/${email}`]],
];

/** `goals` is off where the core is the one that takes long. */
export async function singleEdits(
  bench: BenchPanel,
  { inboundIds = bench.inboundIds, goals = true, kind = '' } = {},
): Promise<Figure[]> {
  const emails = Array.from({ length: TIMES }, () => `one${++added}@bench`);
  const figures: Figure[] = [];
  for (const [what, call] of edits(inboundIds)) {
    await bench.figures();
    const used = await mainThreadOf(bench.pid);
    const taken: [begin: number, end: number][] = [];
    for (const email of emails) {
      const [path, body] = call(email);
      const begin = now();
      await bench.api.get(`/panel/api/${path}`, { method: 'POST', ...(body !== undefined && { body }) });
      taken.push([begin, now()]);
    }
    const cpu = ((await mainThreadOf(bench.pid)) - used) / TIMES;
    const { spans } = await bench.figures();
    const all = middle(taken.map(([begin, end]) => end - begin));
    const core = middle(taken.map(([begin, end]) => within(spans, begin, end)));
    const own = middle(taken.map(([begin, end]) => end - begin - within(spans, begin, end)));
    figures.push(
      { what: `${kind}${what}`, value: all, unit: 'ms', goal: goals ? flat(RATIO) : undefined },
      { what: `${kind}${what} … of it calls to the core`, value: core, unit: 'ms' },
      {
        what: `${kind}${what} … more than these`,
        value: own,
        unit: 'ms',
        goal: goals ? atMost(MORE_MS, 'ms') : undefined,
      },
      { what: `${kind}${what} … CPU of the main thread, mean`, value: cpu, unit: 'ms' },
    );
  }
  return figures;
}

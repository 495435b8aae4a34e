// What several panels cost and gain, measured on the parts of the proof: docs/benchmarks.md has the table.
import { setTimeout as sleep } from 'node:timers/promises';
import { applyLoad } from '../bench/load.js';
import { table } from '../bench/report.js';
import { percentile } from '../soak/verdict.js';
import type { ClusterPanel } from './panel.js';
import { World } from './world.js';

const CLIENTS = 200;
const FETCH_SECONDS = 6;
const EDITS = 150;
const TAKEOVERS = 5;
const LOOK_MS = 2;
const LIMIT_MS = 60_000;

async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const deadline = Date.now() + LIMIT_MS; !(await condition()); await sleep(LOOK_MS))
    if (Date.now() > deadline) throw new Error(`did not happen: ${what}`);
}

const median = (values: readonly number[]): string => percentile(values, 0.5).toFixed(0);
const last = (values: readonly number[]): string => percentile(values, 0.99).toFixed(0);

/** ms from the reply to an edit in one panel until the other one shows it, and of the edits themselves. */
async function lag(writer: ClusterPanel, reader: ClusterPanel) {
  const seen: number[] = [];
  const edits: number[] = [];
  for (let n = 0; n < EDITS; n++) {
    const comment = `edit ${n} ${Date.now()}`;
    const began = performance.now();
    const { body } = await writer.panel.call('/panel/api/clients/update/c0', { body: { comment } });
    // Another panel changed something at the same moment.
    if (!body.success) continue;
    const answered = performance.now();
    edits.push(answered - began);
    await until(
      async () =>
        (await reader.panel.get<{ comment: string }>('/panel/api/clients/get/c0')).comment === comment,
      'the edit is seen',
    );
    seen.push(performance.now() - answered);
    await sleep(Math.random() * 50);
  }
  return { seen, edits };
}

/** ms until another panel leads. */
async function takeover(world: World, signal: 'SIGTERM' | 'SIGKILL'): Promise<number> {
  await until(() => world.panels.filter(({ leads }) => leads).length === 1, 'one panel leads');
  const leader = world.panels.find(({ leads }) => leads);
  const began = performance.now();
  const ended = leader?.kill(signal);
  await until(() => world.panels.some((panel) => panel !== leader && panel.leads), 'another panel leads');
  const ms = performance.now() - began;
  await ended;
  await leader?.keepStarting(() => undefined);
  return ms;
}

export async function clusterFigures(binary: string, say: (text: string) => void): Promise<void> {
  const world = await World.open({ binary, writers: 'one' });
  try {
    const [one, two, three] = world.panels as [ClusterPanel, ClusterPanel, ClusterPanel];
    await one.keepStarting(() => undefined);
    await one.panel.login();
    const inboundId = await one.panel.addInbound({ listen: '0.0.0.0' });
    const { subId } = await one.panel.addClient('c0', [inboundId]);
    const more = Array.from({ length: CLIENTS }, (_, n) => ({
      client: { email: `c${n + 1}` },
      inboundIds: [inboundId],
    }));
    await one.panel.get('/panel/api/clients/bulkCreate', { body: more });
    const path = new URL(one.panel.ready.subUrl).pathname;
    const fetched = async (what: string, url: string) => {
      await sleep(3_000);
      const {
        perSecond,
        median: half,
        p99,
        failed,
      } = await applyLoad({
        url,
        suffixes: [subId],
        seconds: FETCH_SECONDS,
      });
      return [what, perSecond.toFixed(0), half.toFixed(1), p99.toFixed(1), String(failed)];
    };
    const rows = [await fetched('one panel, without a balancer', one.panel.ready.subUrl)];
    rows.push(await fetched('one panel behind HAProxy', world.subUrl(path)));
    await two.keepStarting(() => undefined);
    rows.push(await fetched('the second panel, without a balancer', two.panel.ready.subUrl));
    rows.push(await fetched('two panels behind HAProxy', world.subUrl(path)));
    await three.keepStarting(() => undefined);
    rows.push(await fetched('three panels behind HAProxy', world.subUrl(path)));
    say(`\n${table(['subscription fetches', '/s', 'median ms', 'p99 ms', 'failed'], rows)}`);
    await two.panel.login();
    const { seen, edits } = await lag(one, two);
    const takeovers = { SIGTERM: [] as number[], SIGKILL: [] as number[] };
    for (const signal of ['SIGTERM', 'SIGKILL'] as const)
      for (let n = 0; n < TAKEOVERS; n++) takeovers[signal].push(await takeover(world, signal));
    say(
      `\n${table(
        ['', 'median ms', 'p99 ms'],
        [
          ['an edit', median(edits), last(edits)],
          ['until another panel shows it', median(seen), last(seen)],
          ['until another panel leads, after SIGTERM', median(takeovers.SIGTERM), last(takeovers.SIGTERM)],
          ['until another panel leads, after kill -9', median(takeovers.SIGKILL), last(takeovers.SIGKILL)],
        ],
      )}`,
    );
  } finally {
    await world.dispose();
  }
}

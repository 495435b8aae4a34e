// A third-party plugin for the panels of the proof: its job notes in the database when it begins and when it ends, and its
// route runs the invariants of the panel that is asked.
import { join } from 'node:path';
import { thirdParty } from '../outside/third-party.js';

export const BROKEN_PATH = '/panel/api/x/probe/broken';
/** Longer than a poll of the lease would need to show that two run at once. */
const LASTS_MS = 400;

const SOURCE = `
import { setTimeout as sleep } from 'node:timers/promises';
import { column, definePlugin, job, list, payload, route, shape, table, text } from '@weir-panel/weir/kernel';
import { InvariantChecks } from '@weir-panel/weir/plugins/invariants';

let runs = 0;
const panel = process.env.WEIR_CLUSTER;
const note = (db, run, what) =>
  db.write(async (tx) => {
    const [{ last }] = await tx.query('SELECT COALESCE(MAX(id), 0) AS last FROM x_probe_runs');
    await tx.run('INSERT INTO x_probe_runs (id, panel, run, what) VALUES (:id, :panel, :run, :what)', {
      id: Number(last) + 1, panel, run, what,
    });
  });

export default definePlugin({
  name: 'probe',
  version: '1.0.0',
  api: 1,
  about: 'Notes each run of its job.',
  uses: { checks: InvariantChecks },
  tables: {
    runs: table('x_probe_runs', {
      id: column.key(), panel: column.text(), run: column.text(), what: column.text(),
    }),
  },
  migrations: [
    {
      name: '0001-runs',
      up: ({ integer }) => [
        \`CREATE TABLE x_probe_runs (id \${integer} PRIMARY KEY, panel VARCHAR(40) NOT NULL, run VARCHAR(80) NOT NULL, what VARCHAR(8) NOT NULL)\`,
      ],
    },
  ],
  routes: ({ checks }) => [
    route({
      method: 'GET',
      path: '${BROKEN_PATH}',
      doc: 'What disagrees in this panel.',
      reply: payload(list(text())),
      handle: async ({ signal }) =>
        (await checks.run(signal)).flatMap(({ name, found }) => found.map((text) => \`\${name}: \${text}\`)),
    }),
  ],
  jobs: ({ db }) => [
    job('note', '1s', async () => {
      const run = \`\${panel} \${process.pid} \${++runs}\`;
      try {
        await note(db, run, 'begin');
        await sleep(${LASTS_MS});
        await note(db, run, 'end');
      } catch (error) {
        // The database fails, or another panel leads by now.
        if (!/KERNEL_DATABASE/.test(error.code ?? '')) throw error;
      }
    }),
  ],
});
`;

/** Writes the plugin below this folder; resolves with its reference for `weir.json`. */
export const probe = (folder: string): Promise<string> =>
  thirdParty(join(folder, 'outside'), 'probe', SOURCE);

export interface Run {
  readonly id: number;
  readonly panel: string;
  readonly run: string;
  readonly what: 'begin' | 'end';
}

/** Runs that were at work at once, each as a sentence. The database gives ids in the order of the commits. */
export function overlaps(events: readonly Run[]): string[] {
  const found: string[] = [];
  const begun = new Map<string, number>();
  for (const [i, { run, what }] of events.entries()) {
    if (what === 'begin') {
      begun.set(run, i);
      continue;
    }
    const from = begun.get(run);
    if (from === undefined) found.push(`${run} has an end without a begin`);
    for (const other of events.slice((from ?? i) + 1, i))
      found.push(`${other.run} (${other.what}) was noted while ${run} ran`);
  }
  return found;
}

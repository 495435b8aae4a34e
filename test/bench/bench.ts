// `npm run bench`: one panel that grows, and at each size the scenes, each in a file of its own.
import { arch, cpus, loadavg, platform } from 'node:os';
import { onSqlite } from '../harness/database.js';
import { BenchPanel } from './bench-panel.js';
import { bulkCalls } from './bulk-calls.js';
import { configEdits } from './config-edits.js';
import { coreExceptions } from './core-exceptions.js';
import { fetches } from './fetches.js';
import { CONNECTIONS, generator } from './load.js';
import { pages } from './pages.js';
import { polls } from './poll.js';
import { memoryOf } from './process-figures.js';
import { atLeast, type Figure, Report, upTo } from './report.js';
import { singleEdits } from './single-edits.js';
import { start } from './start.js';
import { echoServer, until } from './vless.js';
import { importInto, wholeLists } from './whole-lists.js';

const FEW = 100;
const SIZES = [10_000, 100_000];
const CREATED_PER_SECOND = 4000;
/** A user costs the core 0.2 to 0.4 ms; 100,000 clients are 500,000 users. */
const CORE_LIMIT_MS = 600_000;
const MEMORY = upTo({ 10000: 180, 100000: 300 }, 'MiB');

interface Scene {
  readonly title: string;
  readonly run: (bench: BenchPanel, echoPort: number) => Promise<Figure[]>;
  /** needs more than a few clients to say anything */
  readonly isLarge?: boolean;
}

async function importing(bench: BenchPanel): Promise<Figure[]> {
  const other = await BenchPanel.start();
  try {
    return await importInto(other, bench);
  } finally {
    await other.dispose();
  }
}

const SCENES: readonly Scene[] = [
  { title: 'one call, median', run: (bench) => singleEdits(bench) },
  { title: 'an edit of the template, median', run: configEdits },
  { title: 'list/paged, median', run: pages },
  { title: '1,000 clients a call', run: bulkCalls, isLarge: true },
  { title: 'whole lists', run: wholeLists, isLarge: true },
  { title: 'import into an empty panel', run: importing, isLarge: true },
  { title: `requests over ${CONNECTIONS} connections`, run: fetches, isLarge: true },
  { title: 'a poll', run: polls, isLarge: true },
  { title: 'a start', run: start, isLarge: true },
];

export interface BenchOptions {
  /** the most */
  readonly clients: number;
  /** of the database */
  readonly version: string;
  /** a part of the titles of the scenes to be run */
  readonly only: string;
}

/** Resolves with the number of goals that were missed. */
export async function bench({ clients, version, only }: BenchOptions): Promise<number> {
  const report = new Report();
  const server = await echoServer();
  const panel = await BenchPanel.start();
  const database = onSqlite ? 'SQLite' : `MariaDB ${version}`;
  process.stdout.write(
    `Node ${process.versions.node}, ${platform()} ${arch()}, ${cpus().length} cores (load ${loadavg()[0]?.toFixed(1)} at the start), ${database}, 5 inbounds with every client on all of them, load by ${generator}\n`,
  );
  try {
    for (const size of [...new Set([FEW, ...SIZES.filter((some) => some < clients), clients])]) {
      const before = panel.clients;
      const grown = await panel.memoryOf(async () => {
        const seconds = await panel.growTo(size);
        const value = (size - before) / seconds;
        // Scenes begin when the core has all: until then its calls stand in each figure.
        const late = await until(panel.way(server.port), await panel.uuidOf(size - 1), true, CORE_LIMIT_MS);
        if (size > FEW)
          report.add('the panel grows', size, [
            {
              what: 'bulkCreate, 1,000 a call, nothing beside',
              value,
              unit: '/s',
              goal: atLeast(CREATED_PER_SECOND, '/s'),
            },
            { what: 'until the core has the last one', value: late, unit: 'ms' },
          ]);
      });
      if (size > FEW)
        report.add('memory at the highest', size, [
          { what: 'the panel grows', value: grown.peak, unit: 'MiB', goal: MEMORY },
        ]);
      for (const { title, run, isLarge } of SCENES) {
        if (!title.includes(only) || (isLarge && size <= FEW)) continue;
        const { peak } = await panel.memoryOf(async () =>
          report.add(title, size, await run(panel, server.port)),
        );
        if (size > FEW)
          report.add('memory at the highest', size, [
            { what: title, value: peak, unit: 'MiB', goal: MEMORY },
          ]);
      }
    }
    if ('one call, by what the core can do'.includes(only)) await coreExceptions(panel, report);
    process.stderr.write(`  memory at the end: ${(await memoryOf(panel.pid)).now.toFixed(0)} MiB\n`);
  } catch (error) {
    const bad = panel.process.log.filter(({ level }) => level === 'warn' || level === 'error');
    for (const line of bad.slice(-20)) process.stderr.write(`${JSON.stringify(line)}\n`);
    throw error;
  } finally {
    server.stop();
    await panel.dispose();
  }
  return report.print();
}

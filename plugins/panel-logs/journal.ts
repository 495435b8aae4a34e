// The journal of the panel's service, read with journalctl.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { messageOf, SerialQueue } from '../../kernel/index.js';
import { minimalEnvironment } from '../processes/contract.js';
import type { LoggedLine, LogLevel } from './contract.js';
import { errors } from './errors.js';
import { entryOf } from './journal-entry.js';
import { ownUnit, type Unit } from './unit.js';

const LIMIT_MS = 5_000;
/** As JSON; more than that is not looked through for lines of a rare level. */
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_WORDS = 500;
const SEVERITY: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

type Child = ChildProcessByStdio<null, Readable, Readable>;

interface Places {
  readonly command: string;
  readonly unit: () => Promise<Unit | undefined>;
  /** ms */
  readonly limit: number;
}

export class Journal {
  readonly #places: Places;
  /** Each call is a process. */
  readonly #queue = new SerialQueue();

  /** @param places others in tests */
  constructor(_: object = {}, places: Partial<Places> = {}) {
    this.#places = { command: 'journalctl', unit: ownUnit, limit: LIMIT_MS, ...places };
  }

  /** Newest first: at most `count` lines of this level or a more severe one, as far as the last 16 MiB go. */
  last(count: number, least: LogLevel): Promise<LoggedLine[]> {
    return this.#queue.run(async () => {
      const unit = await this.#places.unit();
      if (!unit)
        throw errors.NO_JOURNAL(
          'the panel does not run as a service of systemd, so it has no journal; its log is on its standard output',
        );
      const args = [
        '--no-pager',
        '--quiet',
        '--reverse',
        '--output=json',
        '--output-fields=MESSAGE,PRIORITY',
      ];
      const child = spawn(
        this.#places.command,
        [...args, `${unit.isOfUser ? '--user-unit' : '--unit'}=${unit.name}`],
        { stdio: ['ignore', 'pipe', 'pipe'], env: minimalEnvironment([]) },
      );
      const ended = endOf(child);
      const timer = setTimeout(() => child.kill('SIGKILL'), this.#places.limit);
      const begun = Date.now();
      try {
        const { lines, isEnough } = await read(child, count, least);
        if (isEnough) return lines;
        const problem = await ended;
        if (Date.now() - begun >= this.#places.limit)
          throw errors.JOURNAL_SLOW(`journalctl has not answered within ${this.#places.limit / 1000} s`);
        if (problem) throw errors.NO_JOURNAL(`journalctl cannot read the journal: ${problem}`);
        return lines;
      } finally {
        clearTimeout(timer);
        child.kill('SIGKILL');
      }
    });
  }
}

async function read(child: Child, count: number, least: LogLevel) {
  const lines: LoggedLine[] = [];
  let bytes = 0;
  /** the beginning of a line whose end is still to come */
  let rest = '';
  for await (const chunk of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
    bytes += Buffer.byteLength(chunk);
    const texts = (rest + chunk).split('\n');
    rest = texts.pop() ?? '';
    for (const text of texts) {
      const line = entryOf(text);
      if (line && SEVERITY[line.level] >= SEVERITY[least]) lines.push(line);
      if (lines.length >= count) return { lines, isEnough: true };
    }
    if (bytes > MOST_BYTES) return { lines, isEnough: true };
  }
  return { lines, isEnough: false };
}

/** Resolves with the reason of a failure; empty for none. */
function endOf(child: Child): Promise<string> {
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    words = (words + chunk).slice(0, MOST_WORDS);
  });
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(messageOf(error)));
    child.once('close', (code) => resolve(code === 0 ? '' : words.trim() || `exit code ${code}`));
  });
}

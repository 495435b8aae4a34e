// A database of 3x-ui, read page by page by a process of its own.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { errors } from '../errors.js';
import type { Question, Reply, RowTable, SourceClient, SourceFacts, SourceRow } from './known-tables.js';

const ENTRY = fileURLToPath(new URL('./reader-process.js', import.meta.url));
/** Of one question; the first one checks every page of the file. */
const LIMIT_MS = 5 * 60_000;
const LIMIT_MB = 384;

export class Source {
  readonly #child: ChildProcess;
  readonly facts: SourceFacts;

  private constructor(child: ChildProcess, facts: SourceFacts) {
    this.#child = child;
    this.facts = facts;
  }

  /** Opens and checks the file; SQLite keeps what it sorts in `folder`. Rejects with UNREADABLE. */
  static async open(path: string, folder: string): Promise<Source> {
    const child = fork(ENTRY, {
      env: { PATH: process.env['PATH'] ?? '', SQLITE_TMPDIR: folder },
      execArgv: [`--max-old-space-size=${LIMIT_MB}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    try {
      const reply = await ask(child, { ask: 'open', path });
      if (!('facts' in reply)) throw new Error('unexpected reply');
      return new Source(child, reply.facts);
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
  }

  /** Rows of a table, in the order of their row ids; none where the file has no such table. */
  async *rows(table: RowTable): AsyncGenerator<SourceRow> {
    for (let after: number | undefined = Number.MIN_SAFE_INTEGER; after !== undefined; ) {
      const reply: Reply = await ask(this.#child, { ask: 'rows', table, after });
      if (!('rows' in reply)) throw new Error('unexpected reply');
      yield* reply.rows;
      after = reply.next;
    }
  }

  /** Clients in the order of their rows, page by page. */
  async *clients(): AsyncGenerator<readonly SourceClient[]> {
    for (let after: number | undefined = Number.MIN_SAFE_INTEGER; after !== undefined; ) {
      const reply: Reply = await ask(this.#child, { ask: 'clients', after });
      if (!('clients' in reply)) throw new Error('unexpected reply');
      yield reply.clients;
      after = reply.next;
    }
  }

  close(): void {
    this.#child.kill('SIGKILL');
  }
}

/** Asks one question at a time. */
function ask(child: ChildProcess, question: Question): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      child.off('message', answered).off('exit', ended).off('error', failed);
      settle();
    };
    const refuse = (why: string): void =>
      end(() => reject(errors.UNREADABLE(`the file cannot be read: ${why}`)));
    const answered = (message: unknown): void => {
      const reply = message as Reply;
      if ('problem' in reply) refuse(reply.problem);
      else end(() => resolve(reply));
    };
    const ended = (code: number | null, signal: string | null): void =>
      refuse(`the process that reads it ended (${signal ?? `exit code ${code}`})`);
    const failed = (error: Error): void => refuse(error.message);
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      refuse(`one step takes longer than ${LIMIT_MS / 1000} s`);
    }, LIMIT_MS);
    child.on('message', answered).on('exit', ended).on('error', failed);
    child.send(question, (error) => error && failed(error));
  });
}

// The last update, in a file of the data folder: it outlives the panel that began it.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  inspect,
  int,
  oneOf,
  replaceFile,
  shape,
  type Static,
  text,
  withDefault,
  word,
} from '../../kernel/index.js';
import { FOLDER } from './exchange-files.js';

const MOST = 64 * 1024;
const LONGEST_REASON = 4_000;

/** `download`: the package is fetched; `hand over`: root has been asked; `install`: root works; `done`: it is over. */
export const STEPS = ['download', 'hand over', 'install', 'done'] as const;

export const RunFields = {
  runId: word()
    .max(32)
    .pattern(/^\d{1,32}$/, 'digits'),
  state: oneOf('pending', 'success', 'failed'),
  step: oneOf(...STEPS),
  /** the version that it installs, and the one that ran before */
  version: word().max(64),
  from: word().max(64),
  /** Unix ms */
  startedAt: int().min(0),
  /** Unix ms at which root was asked; 0 before */
  askedAt: int().min(0),
  /** Unix ms; 0 while it runs */
  finishedAt: int().min(0),
  exitCode: int().min(0).max(255),
  /** why it failed; blank without a failure */
  reason: withDefault(text().max(LONGEST_REASON), ''),
};
const RunShape = shape(RunFields);
export type Run = Static<typeof RunShape>;

export class UpdateRun {
  readonly #path: string;
  /** undefined before the first update */
  last: Run | undefined;

  constructor({ dataDirectory }: { readonly dataDirectory: string }) {
    this.#path = join(dataDirectory, FOLDER, 'run.json');
  }

  /** A file that is missing or damaged counts as no update. */
  async load(): Promise<void> {
    try {
      const content = await readFile(this.#path, 'utf8');
      const found = content.length > MOST ? undefined : inspect(RunShape, JSON.parse(content));
      if (found && 'value' in found) this.last = found.value as Run;
    } catch {
      this.last = undefined;
    }
  }

  async save(run: Run): Promise<Run> {
    const saved = { ...run, reason: run.reason.slice(0, LONGEST_REASON) };
    await replaceFile(this.#path, `${JSON.stringify(saved)}\n`, 0o600);
    this.last = saved;
    return saved;
  }
}

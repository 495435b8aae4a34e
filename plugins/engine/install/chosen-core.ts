// cores/chosen.json in the data folder: which of the installed cores runs. A file and not a setting, because it must be
// written between two steps of a change that may be killed anywhere.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, replaceFile } from '../../../kernel/index.js';
import { PROGRAM, type Progress } from './release.js';

/** Versions, the names of folders in `cores/`; empty: the core that is found outside of that folder. */
export interface Choice {
  /** runs from the next start on */
  readonly chosen: string;
  /** ran before it */
  readonly previous: string;
  /** is being tried: set from before the running core is stopped until the new one has answered */
  readonly trying: string;
}
export const NO_CHOICE: Choice = { chosen: '', previous: '', trying: '' };

/** Also keeps a damaged file from naming a program elsewhere. */
const VERSION = /^\d{1,4}(?:\.\d{1,4}){2}$/;
export const isVersion = (text: unknown): text is string => typeof text === 'string' && VERSION.test(text);
const LARGEST = 64 * 1024;

export const coresFolder = (dataDirectory: string): string => join(dataDirectory, 'cores');
export const installedCore = (dataDirectory: string, version: string): string =>
  join(coresFolder(dataDirectory), version, PROGRAM);
const choicePath = (dataDirectory: string): string => join(coresFolder(dataDirectory), 'chosen.json');

/** A file that cannot be read counts as no choice, and is logged: the panel must start. */
export async function readChoice(dataDirectory: string, log: Pick<Progress, 'warn'>): Promise<Choice> {
  const path = choicePath(dataDirectory);
  try {
    const text = await readFile(path, 'utf8');
    if (text.length > LARGEST) throw new Error('it is too large');
    const { chosen, previous, trying } = Object(JSON.parse(text)) as Partial<Choice>;
    const known = (value: unknown): string => (isVersion(value) ? value : '');
    return { chosen: known(chosen), previous: known(previous), trying: known(trying) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      log.warn('cannot read which core was chosen; using the one that is found', {
        path,
        reason: messageOf(error),
      });
    return NO_CHOICE;
  }
}

export const writeChoice = (dataDirectory: string, choice: Choice): Promise<void> =>
  replaceFile(choicePath(dataDirectory), `${JSON.stringify(choice)}\n`);

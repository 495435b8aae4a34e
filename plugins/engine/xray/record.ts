// core.json: what a later panel needs in order to find and adopt the core that runs now.
import { readFile, rm } from 'node:fs/promises';
import type { CoreRecord } from '../driver.js';
import type { EngineFolder } from './folder.js';
import type { ProcessIdentity } from './identity.js';

export interface SavedCore {
  readonly identity: ProcessIdentity;
  /** Unix ms */
  readonly startedAt: number;
  readonly socket: string;
  readonly record: CoreRecord;
}

function isSavedCore(value: unknown): value is SavedCore {
  const { identity, startedAt, socket, record } = value as Partial<SavedCore>;
  return (
    Number.isInteger(identity?.pid) &&
    typeof identity?.startTicks === 'string' &&
    typeof identity.bootId === 'string' &&
    typeof startedAt === 'number' &&
    typeof socket === 'string' &&
    typeof record?.base === 'string' &&
    typeof record.inbounds === 'object'
  );
}

/** Undefined when there is no record or it cannot be read; the second is told to `unreadable`. */
export async function loadCore(
  folder: EngineFolder,
  unreadable: (reason: string) => void,
): Promise<SavedCore | undefined> {
  let text: string;
  try {
    text = await readFile(folder.record, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') unreadable((error as Error).message);
    return undefined;
  }
  try {
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === 'object' && isSavedCore(value)) return value;
    unreadable('fields are missing');
  } catch (error) {
    unreadable((error as Error).message);
  }
  return undefined;
}

export async function saveCore(folder: EngineFolder, core: SavedCore): Promise<void> {
  await folder.write(folder.record, [`${JSON.stringify(core)}\n`]);
}

export async function forgetCore(folder: EngineFolder): Promise<void> {
  await rm(folder.record, { force: true });
}

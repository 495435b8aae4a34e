// A folder for files of series, and a log that is kept.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { Log } from '../../../kernel/index.js';

export async function folderFor(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true }));
  return folder;
}

export function keptLog(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const write = (message: string) => void lines.push(message);
  const log: Log = { debug: write, info: write, warn: write, error: write, child: () => log };
  return { log, lines };
}

// Why a core exited, from what it wrote to standard output and standard error.
import { open } from 'node:fs/promises';
import { readTail } from '../../processes/contract.js';
import { lastWords } from './failures.js';

/** The core's logs go to files, so a reason stands soon after the banner; megabytes of stacks may follow it. */
const HEAD = 64 * 1024;
const LONGEST_LINE = 500;
/** Lines of each start, and lines of the log from before it has its files. */
const USUAL = /^(?:Xray \d|A unified platform |\d{4}\/\d{2}\/\d{2} |$)/;

async function readHead(path: string): Promise<string> {
  const file = await open(path, 'r').catch(() => undefined);
  if (!file) return '';
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD), 0, HEAD, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Resolves with the line that says why the core exited, or else with the first one that is not of every start; undefined when there is none. */
export async function lastMessage(path: string): Promise<string | undefined> {
  const head = await readHead(path);
  const found = lastWords(head) ?? lastWords(await readTail(path));
  if (found !== undefined) return found.slice(0, LONGEST_LINE);
  const line = head.split('\n').find((text) => !USUAL.test(text.trim()));
  return line?.replaceAll(/\p{Cc}/gu, '').slice(0, LONGEST_LINE);
}

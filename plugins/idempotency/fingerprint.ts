// Compares requests by a digest of what they send.
import { createHash } from 'node:crypto';
import { TimeSlice } from '../../kernel/index.js';

const CHUNK = 65_536;

/** SHA-256 of a JSON value, independent of the order of its keys. Yields while it hashes a large one. */
export async function fingerprintOf(value: unknown): Promise<string> {
  const hash = createHash('sha256');
  const slice = new TimeSlice();
  let text = '';
  const add = async (node: unknown): Promise<void> => {
    if (typeof node !== 'object' || node === null) text += `${JSON.stringify(node) ?? 'null'},`;
    else if (Array.isArray(node)) {
      text += '[';
      for (const item of node) await add(item);
      text += ']';
    } else {
      text += '{';
      for (const [key, item] of Object.entries(node).sort(([a], [b]) => (a < b ? -1 : 1))) {
        if (item === undefined) continue;
        text += `${JSON.stringify(key)}:`;
        await add(item);
      }
      text += '}';
    }
    if (text.length < CHUNK) return;
    hash.update(text);
    text = '';
    if (slice.isOver) await slice.next();
  };
  await add(value);
  return hash.update(text).digest('hex');
}

/** SHA-256 of a list of texts; different lists have different digests. */
export const digestOf = (...texts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(texts)).digest('hex');

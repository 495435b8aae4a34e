// Looks at a large reply before it is parsed: JSON.parse blocks the event loop until it is done, and 8 MiB of `{},` take
// ten times as long as a list of as many bytes.
import { JsonScan, TimeSlice } from '../../../kernel/index.js';

/** Smaller texts are parsed at once, whatever they hold. */
const LEAST = 256 * 1024;
/** Bytes of a limit for each separator: a list of counters has one for every seven bytes. */
const BYTES_FOR_ONE = 4;
/** Panels answer with few; 500,000 of them would take 1.1 s. */
const MOST_KEYS = 50_000;
const PORTION = 64 * 1024;

/** Why a reply, which may have `maxBytes`, is not parsed, as a sentence without its subject. */
export async function whyNotParsed(text: string, maxBytes: number): Promise<string | undefined> {
  if (text.length < LEAST) return undefined;
  const scan = new JsonScan(maxBytes / BYTES_FOR_ONE, MOST_KEYS);
  const bytes = Buffer.from(text);
  const slice = new TimeSlice();
  for (let from = 0; from < bytes.length; from += PORTION) {
    if (slice.isOver) await slice.next();
    const problem = scan.take(bytes.subarray(from, from + PORTION));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

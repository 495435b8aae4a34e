// Sends the calls of grammY through the panel's guarded calls, with limits on what is sent and received.
import type { CallLimits, OutgoingFetch } from '../../outgoing/contract.js';
import { JunkReply } from './failure.js';

const MIB = 1024 * 1024;
/** A hundred updates are a tenth of it. It is parsed in one piece, which must not take long. */
const MOST_REPLY = MIB;
/** A server of one's own takes files of 2,000 MB; here they are in memory, and the public one takes 50. */
export const MOST_FILE = 50 * 1000 * 1000;
const MOST_SENT = MOST_FILE + MIB;
/** Set by the panel. */
const DROPPED = new Set(['connection', 'content-length', 'host']);

/** How long the Bot API may hold a call for updates. */
export const HOLD_S = 20;

/** What grammY gives to its `fetch`; its signal is of a package of its own. */
interface GrammyCall {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | AsyncIterable<Uint8Array>;
  readonly signal?: Pick<AbortSignal, 'aborted' | 'addEventListener' | 'removeEventListener'>;
}
export interface Way {
  readonly fetch: OutgoingFetch;
  readonly proxy: string;
}

const limitsOf = (method: string, isFile: boolean): Partial<CallLimits> => {
  if (method === 'getUpdates')
    return { firstByteMs: (HOLD_S + 15) * 1_000, wholeMs: (HOLD_S + 30) * 1_000, maxBytes: MOST_REPLY };
  return isFile
    ? { firstByteMs: 9 * 60_000, wholeMs: 10 * 60_000, maxBytes: MOST_REPLY }
    : { firstByteMs: 15_000, wholeMs: 20_000, maxBytes: MOST_REPLY };
};

async function bytesOf(body: GrammyCall['body']): Promise<string | Uint8Array | undefined> {
  if (body === undefined || typeof body === 'string') return body;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > MOST_SENT) throw new JunkReply(`a file for a chat has at most ${MOST_FILE / 1e6} MB`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Parses a reply. Whatever it is: the result has a boolean `ok`. */
function parsed(text: string, status: number): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new JunkReply(`the reply is not one of the Bot API: status ${status}, and no JSON`);
  }
  if (typeof value !== 'object' || value === null || typeof (value as { ok?: unknown }).ok !== 'boolean')
    throw new JunkReply(`the reply is not one of the Bot API: status ${status}, and no field ok`);
  return value;
}

/** A `fetch` for grammY. */
export const transportOf =
  ({ fetch, proxy }: Way) =>
  async (url: string, call: GrammyCall): Promise<{ json(): Promise<object> }> => {
    const stop = new AbortController();
    const abort = (): void => stop.abort();
    if (call.signal?.aborted) abort();
    call.signal?.addEventListener('abort', abort);
    try {
      const headers = Object.entries(call.headers ?? {}).filter(([name]) => !DROPPED.has(name.toLowerCase()));
      const body = await bytesOf(call.body);
      const reply = await fetch(url, {
        method: call.method ?? 'POST',
        headers,
        ...(body !== undefined && { body }),
        signal: stop.signal,
        redirect: 'error',
        limits: limitsOf(url.slice(url.lastIndexOf('/') + 1), typeof body === 'object'),
        ...(proxy !== '' && { proxy }),
      });
      const text = await reply.text();
      return { json: async () => parsed(text, reply.status) };
    } finally {
      call.signal?.removeEventListener('abort', abort);
    }
  };

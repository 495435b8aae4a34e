// A reply piece by piece, at the pace of the one who reads it.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** What a stream is read from; a Node Readable is one. */
export type Pieces = AsyncIterable<Uint8Array | string>;

/** Refuses what cannot be sent, and a body that is not as long as its headers say. */
async function* checked(pieces: Pieces, length: number | undefined): AsyncGenerator<Uint8Array | string> {
  let sent = 0;
  for await (const piece of pieces) {
    if (typeof piece !== 'string' && !(piece instanceof Uint8Array))
      throw new TypeError(`a stream is of texts or bytes, and gave a value of type ${typeof piece}`);
    sent += Buffer.byteLength(piece);
    if (length !== undefined && sent > length)
      throw new Error(`the stream has more than the ${length} bytes that it announced`);
    if (piece.length > 0) yield piece;
  }
  if (length !== undefined && sent < length)
    throw new Error(`the stream ended after ${sent} of the ${length} bytes that it announced`);
}

/** Lets go of a stream that nobody reads. */
export function discard(pieces: Pieces): void {
  if (pieces instanceof Readable) pieces.on('error', () => undefined).destroy();
}

/**
 * Sends all of a stream and waits while the reader is slower. `begin` sets the headers; it is called when there is
 * something to send, so a stream that fails before is still answered with an error. Rejects where the stream fails
 * later; the connection is broken then, because nothing else says that the body is not whole. Resolves when the caller
 * goes away, which `signal` says: the stream is destroyed.
 */
export async function sendStream(
  response: ServerResponse,
  pieces: Pieces,
  options: { readonly length?: number | undefined; readonly signal: AbortSignal; readonly begin: () => void },
): Promise<void> {
  const { length, signal, begin } = options;
  const source = Readable.from(checked(pieces, length), { objectMode: false });
  let failure: { readonly error: unknown } | undefined;
  source.once('error', (error) => {
    if (!signal.aborted) failure = { error };
  });
  try {
    await once(source, 'readable', { signal });
    begin();
    await pipeline(source, response);
  } catch (error) {
    source.destroy();
    // What it waits for may never come, so the stream itself is ended and not only what reads it.
    discard(pieces);
    if (failure) throw failure.error;
    if (!signal.aborted && !response.destroyed) throw error;
  }
}

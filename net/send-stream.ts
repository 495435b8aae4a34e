// Sends a reply piece by piece, at the speed of its reader.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A source of a stream; a Node Readable is one. */
export type Pieces = AsyncIterable<Uint8Array | string>;

/** Rejects pieces that cannot be sent, and a body of another length than its headers say. */
async function* checked(pieces: Pieces, length: number | undefined): AsyncGenerator<Uint8Array | string> {
  let sent = 0;
  for await (const piece of pieces) {
    if (typeof piece !== 'string' && !(piece instanceof Uint8Array))
      throw new TypeError(`a stream must yield texts or bytes, not a value of type ${typeof piece}`);
    sent += Buffer.byteLength(piece);
    if (length !== undefined && sent > length)
      throw new Error(`the stream has more than the ${length} bytes that it announced`);
    if (piece.length > 0) yield piece;
  }
  if (length !== undefined && sent < length)
    throw new Error(`the stream ended after ${sent} of the ${length} bytes that it announced`);
}

/** Closes a stream that nobody reads. */
export function discard(pieces: Pieces): void {
  if (pieces instanceof Readable) pieces.on('error', () => undefined).destroy();
}

/**
 * Sends a whole stream and waits while the reader is slower. `begin` sets the headers; it is called with the first piece,
 * so a stream that fails before is still answered with an error. If the stream fails later, this rejects and the
 * connection is broken, because nothing else can say that the body is incomplete. Resolves when the caller
 * disconnects, which `signal` reports: the stream is destroyed.
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
    // The stream may wait forever, so destroy the stream itself and not only its iterator.
    discard(pieces);
    if (failure) throw failure.error;
    if (!signal.aborted && !response.destroyed) throw error;
  }
}

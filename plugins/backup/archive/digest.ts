// Reads files back: what counts is what the disk returns.
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { WrittenFile } from '../encryption/age-file.js';

const PIECE = 1024 * 1024;

/** Size and SHA-256 of a file, read in pieces. */
export async function digestOf(path: string, signal?: AbortSignal): Promise<WrittenFile> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(PIECE);
  let bytes = 0;
  const file = await open(path);
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, PIECE, bytes);
      if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') };
      hash.update(buffer.subarray(0, bytesRead));
      bytes += bytesRead;
    }
  } finally {
    await file.close();
  }
}

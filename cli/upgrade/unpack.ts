// A package file: compared with SHA256SUMS beside it, and unpacked.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, open, readdir, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { messageOf } from '../../kernel/errors/errors.js';
import { runProgram } from './run-program.js';

const NAME = /^weir-[\w.+-]+-linux-(?:x64|arm64)\.tar\.gz$/;
const MOST_BYTES = 1024 ** 3;
/** A package has 200 MiB. */
const MOST_UNPACKED = 1024 ** 3;
const COPIES = 2;
const MOST_SUMS = 64 * 1024;
const LIMIT_MS = 10 * 60_000;

const mib = (bytes: number): number => Math.ceil(bytes / 1024 ** 2);

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** The digest that SHA256SUMS beside the file has for it; undefined without that file. */
async function expected(path: string): Promise<string | undefined> {
  const sums = join(dirname(path), 'SHA256SUMS');
  const file = await open(sums).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!file) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_SUMS + 1), 0, MOST_SUMS + 1, 0);
    if (bytesRead > MOST_SUMS) throw new Error(`${sums} is too large for a list of digests`);
    for (const line of buffer.toString('latin1', 0, bytesRead).split('\n')) {
      const [, digest, name] = /^([0-9a-f]{64}) [ *](.+)$/.exec(line.trimEnd()) ?? [];
      if (name === basename(path)) return digest;
    }
    throw new Error(`${sums} has no line for ${basename(path)}`);
  } finally {
    await file.close();
  }
}

/** Rejects a file that is not the published one; resolves with false where nothing says which that is. */
export async function verify(path: string): Promise<boolean> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new Error(`${path} cannot be read: ${messageOf(cause)}`, { cause });
  });
  // Reading a pipe or a device would not end.
  if (!found.isFile()) throw new Error(`${path} is not a file`);
  if (!NAME.test(basename(path)))
    throw new Error(
      `${basename(path)} is not named like a package: weir-<version>-linux-<x64 or arm64>.tar.gz`,
    );
  if (found.size > MOST_BYTES) throw new Error(`${path} is too large for a package`);
  const wanted = await expected(path);
  if (wanted === undefined) return false;
  const digest = await digestOf(path);
  if (digest !== wanted)
    throw new Error(`${path} has the digest ${digest}, but SHA256SUMS has ${wanted}; download it again`);
  return true;
}

/** What the archive unpacks to; a small file can hold terabytes of zeros. */
async function unpackedSize(path: string): Promise<number> {
  let size = 0;
  const count = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      size += chunk.length;
      if (size > MOST_UNPACKED) return;
    }
  };
  // The pipeline ends with an error of its own when it is left early.
  await pipeline(createReadStream(path), createGunzip(), count).catch((error: unknown) => {
    if (size <= MOST_UNPACKED) throw error;
  });
  if (size > MOST_UNPACKED) throw new Error('it unpacks to more than a package has');
  return size;
}

/** Rejects with a sentence when less than `needed` bytes are free. */
export async function refuseFullDisk(folder: string, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free < needed)
    throw new Error(
      `${dirname(folder)} needs ${mib(needed)} MiB of free space, and has ${Math.floor(free / 1024 ** 2)}`,
    );
}

/** A package has files and folders alone: a pipe would stop the check of its digests, a link leads out of the folder. */
async function refuseOthers(folder: string): Promise<void> {
  for (const name of await readdir(folder, { recursive: true })) {
    const found = await lstat(join(folder, name));
    if (found.isDirectory()) continue;
    if (!found.isFile() || found.nlink > 1) throw new Error(`${name} in it is neither a file nor a folder`);
    if (found.size > MOST_UNPACKED) throw new Error(`${name} in it is too large for a package`);
  }
}

/** Unpacks into an empty folder; `install.sh` in it checks every file. */
export async function unpack(path: string, folder: string): Promise<void> {
  try {
    const needed = await unpackedSize(path);
    await refuseFullDisk(folder, needed * COPIES);
    const { code, complained } = await runProgram(
      'tar',
      ['-xzf', path, '-C', folder, '--strip-components=1', '--no-same-owner', '--no-same-permissions'],
      LIMIT_MS,
    );
    if (code !== 0) throw new Error(complained.trim().split('\n')[0]);
    await refuseOthers(folder);
  } catch (cause) {
    throw new Error(`${path} cannot be unpacked: ${messageOf(cause)}`, { cause });
  }
}

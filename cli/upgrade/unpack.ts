// A package file: compared with SHA256SUMS beside it, and unpacked.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../../kernel/errors/errors.js';
import { runProgram } from './run-program.js';

const NAME = /^weir-[\w.+-]+-linux-(?:x64|arm64)\.tar\.gz$/;
const MOST_BYTES = 1024 ** 3;
const MOST_SUMS = 64 * 1024;
const LIMIT_MS = 10 * 60_000;

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
  const { size } = await stat(path).catch((cause: unknown) => {
    throw new Error(`${path} cannot be read: ${messageOf(cause)}`, { cause });
  });
  if (!NAME.test(basename(path)))
    throw new Error(
      `${basename(path)} is not named like a package: weir-<version>-linux-<x64 or arm64>.tar.gz`,
    );
  if (size > MOST_BYTES) throw new Error(`${path} is too large for a package`);
  const wanted = await expected(path);
  if (wanted === undefined) return false;
  const found = await digestOf(path);
  if (found !== wanted)
    throw new Error(`${path} has the digest ${found}, but SHA256SUMS has ${wanted}; download it again`);
  return true;
}

/** Unpacks into an empty folder; `install.sh` in it checks every file. */
export async function unpack(path: string, folder: string): Promise<void> {
  const { code, complained } = await runProgram(
    'tar',
    ['-xzf', path, '-C', folder, '--strip-components=1', '--no-same-owner', '--no-same-permissions'],
    LIMIT_MS,
  );
  if (code !== 0) throw new Error(`${path} cannot be unpacked: ${complained.trim().split('\n')[0]}`);
}

// The archive: files in the order of their names, with fixed owner, modes and times.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { spawn } from 'node:child_process';

const PROGRAM = /^(?:bin\/.*|install\.sh|uninstall\.sh)$/;
/** Of files: a list of all others cannot have its own digest. */
const LIST = 'FILES.sha256';

export async function digestOf(path) {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

/** Paths of all files below a folder, with slashes, in the order of their bytes. A link would lead out of the package. */
export async function filesBelow(folder, prefix = '') {
  const found = [];
  for (const entry of await readdir(join(folder, prefix), { withFileTypes: true })) {
    const path = `${prefix}${entry.name}`;
    if (entry.isDirectory()) found.push(...(await filesBelow(folder, `${path}/`)));
    else if (entry.isFile()) found.push(path);
    else throw new Error(`${path} is neither a file nor a folder; a package has no links`);
  }
  return found.sort((a, b) => (a < b ? -1 : 1));
}

/** Writes the digests of all files, in the form of sha256sum, and sets the modes. */
export async function listFiles(folder) {
  const lines = [];
  for (const path of await filesBelow(folder)) {
    if (path === LIST) continue;
    const full = join(folder, path);
    await chmod(full, PROGRAM.test(path) ? 0o755 : 0o644);
    lines.push(`${await digestOf(full)}  ${path}\n`);
  }
  await writeFile(join(folder, LIST), lines.join(''));
  await chmod(join(folder, LIST), 0o644);
}

/** Packs the folder into `out`. `time` is that of every file, in seconds since 1970. */
export async function archive(folder, out, time) {
  const name = basename(folder);
  const paths = (await filesBelow(folder)).map((path) => `${name}/${path}`);
  const file = join(out, `${name}.tar.gz`);
  const tar = spawn(
    'tar',
    [
      '--create',
      '--format=ustar',
      `--mtime=@${time}`,
      '--owner=root:0',
      '--group=root:0',
      '--no-recursion',
      '--null',
      '--files-from=-',
    ],
    { cwd: dirname(folder), stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const ended = new Promise((resolve, reject) =>
    tar
      .on('error', reject)
      .on('close', (code) => (code === 0 ? resolve() : reject(new Error(`tar failed with code ${code}`)))),
  );
  tar.stdin.end(paths.join('\0'));
  // zlib of Node writes neither a name nor a time into the header.
  await Promise.all([ended, pipeline(tar.stdout, createGzip({ level: 9 }), createWriteStream(file))]);
  return file;
}

// What a server of packages may do wrong.
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServerResponse } from 'node:http';
import test, { type ExecutionContext } from 'ava';
import { folderFor } from '../../../test/harness/folder-for.js';
import { FILES, FOLDER } from '../contract.js';
import type { IndexSource } from '../index-source.js';
import { PackageDownload } from '../package-download.js';
import { cutAfter, packageFile, ranged, ReleaseServer, type Reply, sha256 } from './release-server.js';

const bytes = Buffer.alloc(200_000, 'the bytes of a package ');
const file = packageFile(bytes);
const part = `package-${file.sha256.slice(0, 16)}.part`;

async function open(t: ExecutionContext, ...replies: Reply[]) {
  const server = await ReleaseServer.open(t);
  let calls = 0;
  server.reply('/package.tar.gz', (request, response) => {
    (replies[Math.min(calls++, replies.length - 1)] as Reply)(request, response);
  });
  const dataDirectory = await folderFor(t);
  const folder = join(dataDirectory, FOLDER);
  await mkdir(folder);
  const source = {
    addressOf: (url: string) => new URL(url, server.url),
    fetch: (url: URL, { signal, headers }: { signal: AbortSignal; headers: Record<string, string> }) =>
      fetch(url, { signal, headers }),
  } as unknown as IndexSource;
  const stop = new AbortController();
  const download = new PackageDownload({ source, dataDirectory, signal: stop.signal });
  return {
    server,
    folder,
    download,
    stop,
    ranges: () => server.asked.map((one) => one.split(' ')[1] ?? 'all'),
    /** without how much a connection that broke has brought */
    kinds: () => server.asked.map((one) => (one.includes('bytes=') ? 'rest' : 'all')),
  };
}

const whole: Reply = (_, response) => void response.end(bytes);
const status =
  (code: number): Reply =>
  (_, response: ServerResponse) =>
    void response.writeHead(code).end('no');

test('reports its progress, and leaves the package alone', async (t) => {
  const { download, folder } = await open(t, ranged(bytes));
  const seen: number[] = [];
  await writeFile(join(folder, 'package-0123456789abcdef.part'), 'of another release');
  const path = await download.fetch(file, (received, size) => seen.push(received / size));
  t.is(sha256(await readFile(path)), file.sha256);
  t.is(seen.at(-1), 1);
  t.deepEqual(await readdir(folder), [FILES.package]);
  t.is((await stat(path)).mode & 0o777, 0o600);
});

test('starts again where the server cannot continue', async (t) => {
  const { download, kinds } = await open(t, cutAfter(bytes, 70_000), whole);
  t.is(sha256(await readFile(await download.fetch(file))), file.sha256);
  t.deepEqual(kinds(), ['all', 'rest']);
});

test('starts again after a refused range', async (t) => {
  const { download, kinds } = await open(t, cutAfter(bytes, 70_000), status(416), whole);
  t.is(sha256(await readFile(await download.fetch(file))), file.sha256);
  t.deepEqual(kinds(), ['all', 'rest', 'all']);
});

test('does not join a part that the server takes from elsewhere', async (t) => {
  const wrong: Reply = (_, response) => {
    response.writeHead(206, { 'content-range': `bytes 10-${bytes.length - 1}/${bytes.length}` });
    response.end(bytes.subarray(10));
  };
  const { download, kinds } = await open(t, cutAfter(bytes, 70_000), wrong, whole);
  t.is(sha256(await readFile(await download.fetch(file))), file.sha256);
  t.deepEqual(kinds(), ['all', 'rest', 'all']);
});

test('a part that somebody has changed is found, and downloaded again', async (t) => {
  const { download, folder, ranges } = await open(t, ranged(bytes));
  await writeFile(join(folder, part), Buffer.alloc(50_000, 'x'));
  t.is(sha256(await readFile(await download.fetch(file))), file.sha256);
  t.deepEqual(ranges(), ['bytes=50000-', 'all']);
  await writeFile(join(folder, part), Buffer.alloc(300_000, 'x'));
  t.is(sha256(await readFile(await download.fetch(file))), file.sha256);
  await writeFile(join(folder, part), bytes);
  await download.fetch(file);
  t.deepEqual(ranges(), ['bytes=50000-', 'all', 'all'], 'a whole part is not asked for again');
});

test('gives up a server that sends nothing, that has no package, or that sends another one again and again', async (t) => {
  const silent = await open(t, (_, response) => void response.writeHead(200).write('a'));
  await t.throwsAsync(silent.download.fetch(file, undefined, 200), { message: /no data for 0\.2 s|aborted/ });
  const missing = await open(t, status(404));
  await t.throwsAsync(missing.download.fetch(file), { message: /^127\.0\.0\.1:\d+ answered 404$/ });
  t.is(missing.ranges().length, 3);
  const other = await open(t, (_, response) => void response.end(Buffer.alloc(bytes.length)));
  await t.throwsAsync(other.download.fetch(file), { message: /SHA-256 .* and the signed index has/ });
  t.deepEqual(await readdir(other.folder), []);
  const endless = await open(t, (_, response) => {
    const timer = setInterval(() => response.write(Buffer.alloc(100_000)), 5);
    response.on('close', () => clearInterval(timer));
  });
  await t.throwsAsync(endless.download.fetch(file), { message: /larger than the 200000 bytes/ });
  t.deepEqual(await readdir(endless.folder), []);
});

test('stops with the panel, and keeps what has arrived', async (t) => {
  const { download, folder, stop, ranges } = await open(t, (_, response) => {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, 60_000));
  });
  const ended = download.fetch(file, () => stop.abort(new Error('the panel stops')));
  await t.throwsAsync(ended);
  t.true((await stat(join(folder, part))).size > 0);
  t.is(ranges().length, 1, 'it is not tried again');
});

test('needs room for the package', async (t) => {
  const { download } = await open(t, whole);
  await t.throwsAsync(download.fetch({ ...file, size: 2 ** 52 }), {
    message: /the package needs 4294967296 MiB in the data folder, which has \d+ MiB/,
  });
});

// A data folder without room.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { testUnless } from '../../../test/harness/left-out.js';
import { SmallDisk } from '../../../test/harness/small-disk.js';
import { FOLDER } from '../contract.js';
import type { IndexSource } from '../index-source.js';
import { PackageDownload } from '../package-download.js';
import { type Run, UpdateRun } from '../update-run.js';
import { packageFile, ranged, ReleaseServer } from './release-server.js';

const bytes = Buffer.alloc(600_000, 'a package ');
const file = packageFile(bytes);
const RUN: Run = {
  runId: '1',
  state: 'pending',
  step: 'download',
  version: '0.2.0',
  from: '0.1.0',
  startedAt: 1,
  askedAt: 0,
  finishedAt: 0,
  exitCode: 0,
  reason: '',
};

testUnless(SmallDisk.obstacle())(
  'a disk that fills stops the download, and it goes on when there is room',
  async (t) => {
    const disk = SmallDisk.mount(t, 1);
    await mkdir(join(disk.path, FOLDER));
    const server = await ReleaseServer.open(t);
    const source = {
      addressOf: (url: string) => new URL(url, server.url),
      fetch: (url: URL, { headers }: { headers: Record<string, string> }) => fetch(url, { headers }),
    } as unknown as IndexSource;
    const download = new PackageDownload({
      source,
      dataDirectory: disk.path,
      signal: new AbortController().signal,
    });
    await t.throwsAsync(download.fetch({ ...file, size: 3_000_000 }), {
      message: /needs 3 MiB in the data folder/,
    });
    // Somebody else takes the room after the look at the disk.
    server.reply('/package.tar.gz', (_, response) => {
      response.writeHead(200, { 'content-length': bytes.length });
      response.write(bytes.subarray(0, 100_000));
      void sleep(300).then(() => {
        disk.fill();
        response.end(bytes.subarray(100_000));
      });
    });
    await t.throwsAsync(download.fetch(file), { message: /ENOSPC|MiB in the data folder/ });
    const run = new UpdateRun({ dataDirectory: disk.path });
    await t.throwsAsync(run.save(RUN), { message: /run\.json cannot be written: ENOSPC/ });
    t.is(run.last, undefined, 'what is not stored has not begun');
    disk.free();
    await run.save(RUN);
    server.reply('/package.tar.gz', ranged(bytes));
    await download.fetch(file);
    t.regex(server.asked.at(-1) ?? '', /bytes=\d+-/);
  },
);

import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { cutLog, finishCut, olderLog } from '../cut-log.js';
import { folderOf } from './world.js';

test('older logs keep their order, each is bounded, and there are no more of them than are wanted', async (t) => {
  const path = join(await folderOf(t), 'output.log');
  for (const sign of ['a', 'b', 'c', 'd', 'e']) {
    await appendFile(path, sign.repeat(9));
    await cutLog(path, { maxBytes: 5, keep: 3 });
  }
  const all = await Promise.all(['', '.1', '.2', '.3'].map((end) => readFile(path + end, 'utf8')));
  t.deepEqual(all, ['', 'eeeee', 'ddddd', 'ccccc']);
  await t.throwsAsync(readFile(`${path}.4`), { code: 'ENOENT' });
});

test('a log within its limit stays; without older files the rest goes, and files beyond the number go too', async (t) => {
  const path = join(await folderOf(t), 'output.log');
  t.is(await cutLog(path, { maxBytes: 5, keep: 2 }), undefined, 'no file');
  await writeFile(path, 'aaaaa');
  t.is(await cutLog(path, { maxBytes: 5, keep: 2 }), undefined);
  for (const sign of ['b', 'c', 'd']) {
    await appendFile(path, sign.repeat(9));
    t.deepEqual(await cutLog(path, { maxBytes: 5, keep: 3, olderBytes: 10 }), {
      isKept: true,
      lost: sign === 'b' ? 4 : 0,
      reason: '',
    });
  }
  t.is(await readFile(`${path}.3`, 'utf8'), 'abbbbbbbbb');
  t.is((await stat(`${path}.1`)).mode & 0o777, 0o600);
  await appendFile(path, 'e');
  t.is(await cutLog(path, { maxBytes: 5, keep: 1 }), undefined);
  t.deepEqual((await readdir(dirname(path))).sort(), ['output.log', 'output.log.1']);
  await appendFile(path, 'eeeeeeee');
  t.deepEqual(await cutLog(path, { maxBytes: 5, keep: 0 }), { isKept: false, lost: 9, reason: '' });
  t.deepEqual(await readdir(dirname(path)), [basename(path)]);
});

test('an older file that cannot be written is named as the reason, and the log is cut all the same', async (t) => {
  const path = join(await folderOf(t), 'output.log');
  await writeFile(path, 'x'.repeat(9));
  // A file cannot replace a folder.
  await mkdir(`${path}.1/full`, { recursive: true });
  const cut = await cutLog(path, { maxBytes: 5, keep: 1 });
  t.like(cut, { isKept: false, lost: 9 });
  t.regex(cut?.reason ?? '', /output\.log\.1/);
  t.is((await stat(path)).size, 0);
  t.deepEqual((await readdir(dirname(path))).sort(), ['output.log', 'output.log.1']);
});

test('a process that writes faster than its log can be copied fills no disk', async (t) => {
  const path = join(await folderOf(t), 'output.log');
  const writer = spawn('sh', ['-c', 'exec yes >> "$0"', path], { stdio: 'ignore' });
  const limits = { maxBytes: 1024 * 1024, keep: 1 };
  const sizes: number[] = [];
  try {
    for (let i = 0; i < 20; i++) {
      await sleep(50);
      const cut = await cutLog(path, limits);
      sizes.push(
        await stat(`${path}.1`).then(
          ({ size }) => size,
          () => 0,
        ),
      );
      if (cut && !cut.isKept) t.is(cut.reason, 'the process writes faster than its log can be copied');
    }
  } finally {
    writer.kill('SIGKILL');
    await once(writer, 'exit');
  }
  t.true(Math.max(...sizes) <= 10 * limits.maxBytes, String(sizes));
});

test('a cut that was interrupted is finished: before the truncation it never was, after it the copy has all', async (t) => {
  const path = join(await folderOf(t), 'output.log');
  const files = async () =>
    Object.fromEntries(
      await Promise.all(
        (await readdir(dirname(path))).map(
          async (name) =>
            [name.replace('output.', ''), await readFile(join(dirname(path), name), 'utf8')] as const,
        ),
      ),
    );
  await writeFile(path, '0123456789');
  await writeFile(`${path}.cut-4`, '456');
  await finishCut(path, 2);
  t.deepEqual(await files(), { log: '0123456789' });
  await writeFile(`${path}.cut-4`, '456789');
  await writeFile(`${path}.1`, 'older');
  await writeFile(path, 'x');
  await finishCut(path, 2);
  t.deepEqual(await files(), { log: 'x', 'log.1': '456789', 'log.2': 'older' });
  // Killed while the older files got their next names.
  await rename(`${path}.2`, `${path}.3`);
  await writeFile(`${path}.cut-0`, 'newer');
  await finishCut(path, 5);
  t.deepEqual(await files(), { log: 'x', 'log.1': 'newer', 'log.2': '456789', 'log.3': 'older' });
  await writeFile(`${path}.cut-0`, '');
  await finishCut(path, 2);
  t.is(Object.keys(await files()).length, 4);
});

test('after kill -9 in the middle of cuts no line is missing and none is there twice', async (t) => {
  const path = join(await folderOf(t), 'output.log');
  const KEEP = 500;
  for (let round = 0; round < 8; round++) {
    const child = fork(fileURLToPath(new URL('./cutting.js', import.meta.url)), [path, String(KEEP)]);
    await once(child, 'message');
    await sleep(30 + Math.random() * 60);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await finishCut(path, KEEP);
    t.deepEqual(
      (await readdir(dirname(path))).filter((name) => name.includes('cut-')),
      [],
    );
  }
  let before = 0;
  let files = 0;
  for (let number = KEEP; number >= 0; number--) {
    const text = await readFile(olderLog(path, number), 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    files += 1;
    for (const line of text.split('\n').slice(0, -1)) {
      if (Number(line) !== before + 1) t.fail(`${line} after ${before} in file ${number}`);
      before = Number(line);
    }
  }
  t.true(files > 8 && before > 1000, `${files} files, ${before} lines`);
});

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { link, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { weirCommand } from '../../../test/harness/weir-command.js';
import { Installation } from '../installation.js';
import { lastErrorIn } from '../service.js';
import { refuseFullDisk, unpack, verify } from '../unpack.js';
import { folderFor } from '../../../test/harness/folder-for.js';

const run = promisify(execFile);
const NAME = 'weir-1.2.3-linux-x64.tar.gz';

test('a package is compared with SHA256SUMS beside it', async (t) => {
  const folder = await folderFor(t);
  const path = join(folder, NAME);
  await writeFile(path, 'bytes');
  t.false(await verify(path), 'nothing says what it must be');
  const sums = (text: string) => writeFile(join(folder, 'SHA256SUMS'), text);
  const digest = createHash('sha256').update('bytes').digest('hex');
  await sums(`${'0'.repeat(64)}  weir-1.2.3-linux-arm64.tar.gz\n`);
  await t.throwsAsync(verify(path), { message: /SHA256SUMS has no line for weir-1\.2\.3-linux-x64/ });
  await sums(`${digest}  ${NAME}\n`);
  t.true(await verify(path));
  await writeFile(path, 'other bytes');
  await t.throwsAsync(verify(path), { message: /but SHA256SUMS has [0-9a-f]{64}; download it again/ });
  await sums('x'.repeat(70_000));
  await t.throwsAsync(verify(path), { message: /too large for a list/ });
  await t.throwsAsync(verify(join(folder, 'SHA256SUMS')), { message: /is not named like a package/ });
});

test('unpacks into the folder, and names a damaged file', async (t) => {
  const folder = await folderFor(t);
  await mkdir(join(folder, 'weir-1.2.3-linux-x64', 'bin'), { recursive: true });
  await writeFile(join(folder, 'weir-1.2.3-linux-x64', 'VERSION'), '{}');
  const path = join(folder, NAME);
  await run('tar', ['-czf', path, '-C', folder, 'weir-1.2.3-linux-x64']);
  const to = join(folder, 'to');
  await mkdir(to);
  await unpack(path, to);
  t.deepEqual((await readdir(to)).sort(), ['VERSION', 'bin']);
  await writeFile(path, 'no archive');
  await t.throwsAsync(unpack(path, to), { message: /weir-1\.2\.3-linux-x64\.tar\.gz cannot be unpacked: / });
});

const FOLDER = 'weir-1.2.3-linux-x64';

for (const [what, make] of [
  ['link', (folder: string) => symlink('/etc/shadow', join(folder, 'bin'))],
  ['pipe', (folder: string) => run('mkfifo', [join(folder, 'VERSION')])],
  [
    'second name of a file',
    async (folder: string) => {
      await writeFile(join(folder, 'a'), '');
      await link(join(folder, 'a'), join(folder, 'b'));
    },
  ],
] as const)
  test(`refuses an archive with a ${what}`, async (t) => {
    const folder = await folderFor(t);
    await mkdir(join(folder, FOLDER));
    await make(join(folder, FOLDER));
    const path = join(folder, NAME);
    await run('tar', ['-czf', path, '-C', folder, FOLDER]);
    const to = join(folder, 'to');
    await mkdir(to);
    await t.throwsAsync(unpack(path, to), { message: /in it is neither a file nor a folder/ });
  });

test('refuses an archive that leaves its folder, or that unpacks to more than a package has', async (t) => {
  const folder = await folderFor(t);
  const path = join(folder, NAME);
  const to = join(folder, 'to');
  await mkdir(to);
  await writeFile(join(folder, 'x'), '');
  await run('tar', ['-czf', path, '-C', folder, '--transform=s,^x$,a/../../escaped,', '-P', 'x']);
  await t.throwsAsync(unpack(path, to), { message: /cannot be unpacked/ });
  await run('sh', [
    '-c',
    `cd "${folder}" && head -c 100M /dev/zero | gzip -1 >part && cat ${'part '.repeat(11)} >"${path}" && rm part`,
  ]);
  await t.throwsAsync(unpack(path, to), { message: /it unpacks to more than a package has/ });
  t.deepEqual((await readdir(folder)).sort(), ['to', NAME, 'x']);
  t.deepEqual(await readdir(to), []);
});

test('refuses what is not a file, without waiting for its end', async (t) => {
  const folder = await folderFor(t);
  const path = join(folder, NAME);
  await run('mkfifo', [path]);
  await writeFile(join(folder, 'SHA256SUMS'), `${'0'.repeat(64)}  ${NAME}\n`);
  await t.throwsAsync(verify(path), { message: /is not a file/ });
});

test('names the space that an upgrade needs', async (t) => {
  const folder = await folderFor(t);
  await t.notThrowsAsync(refuseFullDisk(folder, 1));
  await t.throwsAsync(refuseFullDisk(folder, 1024 ** 6), {
    message: /needs 1099511627776 MiB of free space, and has \d+$/,
  });
});

test('removes what a killed upgrade has unpacked', async (t) => {
  const folder = await folderFor(t);
  await mkdir(join(folder, '.unpacked-1', 'app'), { recursive: true });
  const draft = await new Installation(folder).draft();
  t.deepEqual(await readdir(folder), [`.unpacked-${process.pid}`]);
  t.deepEqual(await readdir(draft), []);
});

test('weir health gives up on a panel that accepts and never answers', async (t) => {
  const folder = await folderFor(t);
  await writeFile(join(folder, 'panel.secret'), 'x');
  const server = createServer((socket) => t.teardown(() => socket.destroy())).listen(
    join(folder, 'panel.sock'),
  );
  await once(server, 'listening');
  const started = Date.now();
  const ended = await weirCommand(folder, ['health']);
  t.is(ended.code, 1);
  t.regex(ended.complained, /does not answer within 12 s/);
  t.true(Date.now() - started < 45_000);
  server.close();
});

test('commands of a package say what they need in a checkout', async (t) => {
  const folder = await folderFor(t);
  const outside = await weirCommand(folder, ['upgrade', NAME]);
  t.is(outside.code, 1);
  t.regex(outside.complained, /does not come from an installed package/);
  t.is((await weirCommand(folder, ['rollback'])).code, 1);
  t.is((await weirCommand(folder, ['upgrade'])).code, 2);
  const none = await weirCommand(folder, ['health']);
  t.is(none.code, 1);
  t.is(
    none.complained,
    `no panel runs in ${folder}; if its data folder is another one, name it in WEIR_DATA_DIR\n`,
  );
  t.deepEqual(await readdir(folder), [], 'no panel was started for it');
});

test('a damaged record is reported, and is not taken for no upgrade', async (t) => {
  const folder = await folderFor(t);
  const installation = new Installation(folder);
  t.is(await installation.record('upgrade.json'), undefined);
  const whole = { from: '1.0.0', to: '1.0.1', at: 1, backup: '', notRunning: [] };
  await writeFile(join(folder, 'upgrade.json'), JSON.stringify(whole));
  t.like(await installation.record('upgrade.json'), whole);
  for (const text of [
    JSON.stringify({ ...whole, from: '../..' }),
    '{',
    '{"from":"../..","to":"1.0.0"}',
    '{"from":"1.0.0","to":"1.0.1"}',
    'null',
  ]) {
    await writeFile(join(folder, 'upgrade.json'), text);
    await t.throwsAsync(installation.record('upgrade.json'), { message: /upgrade\.json is damaged/ }, text);
  }
});

test('finds the last error in the log', (t) => {
  const line = (fields: object) => JSON.stringify({ time: '', level: 'error', ...fields });
  t.is(lastErrorIn(''), '');
  t.is(
    lastErrorIn(
      `${line({ msg: 'first' })}\n${line({ msg: 'the panel could not start', problem: 'no port' })}\n{"level":"info","msg":"x"}\nnoise`,
    ),
    'the panel could not start: no port',
  );
  t.is(lastErrorIn(line({ msg: 'x', error: { message: 'y' } })), 'x: y');
  t.is(lastErrorIn('"level":"error" not json'), '');
});

// Updates as the panel does them: what it finds, what it asks root for, and what it says of that.
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { definePlugin, Jobs, type JobsApi, tap } from '../../../kernel/index.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { until } from '../../../test/harness/until.js';
import { FOLDER, updateEnded, updateFound } from '../contract.js';
import { cutAfter, packageFile, ranged, releaseOf, sha256 } from './release-server.js';
import { UpdateWorld } from './update-panel.js';

const bytes = Buffer.alloc(300_000, 'a package ');

test('finds a newer release, downloads and verifies it, and asks root', async (t) => {
  const world = await UpdateWorld.open(t);
  world.server.publish([releaseOf('0.1.0', bytes), releaseOf('0.2.0', bytes, { commit: 'abcdef0123456' })]);
  world.server.reply('/package.tar.gz', ranged(bytes));
  const info = await world.info();
  t.like(info, {
    channel: 'stable',
    currentVersion: '0.1.0',
    latestVersion: '0.2.0',
    latestCommit: 'abcdef01',
    updateAvailable: true,
    updateVersion: '0.2.0',
    notes: 'what is new in 0.2.0',
    size: bytes.length,
    canInstall: true,
    problem: '',
  });
  t.like(await world.status(), { runId: '', state: 'pending', exitCode: 0, finishedAt: 0 });
  const begun = await world.update();
  t.is(begun.status, 200);
  t.regex(begun.body.obj?.runId ?? '', /^\d{15,}$/);
  const asked = await world.asked();
  const [act] = await world.panel.get<object[]>('/panel/api/x/audit/changes?limit=5&area=panel');
  t.like(act, { kind: 'done', name: 'update', who: 'admin', fields: { version: [null, '0.2.0'] } });
  t.like(asked, { runId: begun.body.obj?.runId ?? '', version: '0.2.0' });
  t.is(sha256(await readFile(world.inFolder('package'))), sha256(bytes));
  t.is((await world.status()).state, 'pending');
  await world.answer({ runId: asked.runId });
  const done = await world.ended();
  t.like(done, {
    runId: asked.runId,
    state: 'success',
    exitCode: 0,
    version: '0.2.0',
    from: '0.1.0',
    reason: '',
  });
  t.true(done.finishedAt > Date.now() / 1000 - 60);
  t.deepEqual((await readdir(join(world.data, FOLDER))).sort(), [
    ...['releases.json', 'releases.json.minisig', 'run.json', 'seen.json'],
  ]);
});

test('the state outlives the restart of the panel, and the next panel says how it ended', async (t) => {
  const ended: object[] = [];
  const listener = definePlugin({
    name: 'acme-listener',
    version: '1.0.0',
    api: 1,
    about: 'Listens.',
    taps: () => [tap(updateEnded, (end) => void ended.push(end))],
  });
  const world = await UpdateWorld.open(t, { outside: [listener] });
  world.server.publish([releaseOf('0.2.0', bytes)]);
  world.server.reply('/package.tar.gz', ranged(bytes));
  await world.update();
  const { runId } = await world.asked();
  await world.answer({ runId, state: 'running', finishedAt: 0 });
  await until(async () => (await world.status()).step === 'install', 'root has begun');
  await world.restart();
  t.like(await world.status(), { runId, state: 'pending', step: 'install' });
  t.is((await world.update()).status, 409);
  await world.answer({
    runId,
    state: 'failed',
    exitCode: 1,
    reason: 'Weir 0.2.0 does not work: it exits; 0.1.0 is back',
  });
  const end = await world.ended();
  t.like(end, { state: 'failed', exitCode: 1, reason: 'Weir 0.2.0 does not work: it exits; 0.1.0 is back' });
  await until(() => ended.length > 0, 'the event');
  t.like(ended[0], { runId, version: '0.2.0', from: '0.1.0', isDone: false, reason: end.reason });
  // The next one may begin.
  t.is((await world.update()).status, 200);
  t.is(ended.length, 1);
});

test('two hundred calls at once begin one update', async (t) => {
  const world = await UpdateWorld.open(t);
  world.server.publish([releaseOf('0.2.0', bytes)]);
  world.server.reply('/package.tar.gz', ranged(bytes));
  const answers = await Promise.all(Array.from({ length: 200 }, () => world.update()));
  t.is(answers.filter(({ status }) => status === 200).length, 1);
  t.true(answers.every(({ status, body }) => status === 200 || body.code === 'UPDATES_BUSY'));
});

test('a status of another run, and a damaged one, say nothing about this one', async (t) => {
  const ended: object[] = [];
  const listener = definePlugin({
    name: 'acme-listener',
    version: '1.0.0',
    api: 1,
    about: 'Listens.',
    taps: () => [tap(updateEnded, (end) => void ended.push(end))],
  });
  const clock = new FakeClock(Date.now());
  const world = await UpdateWorld.open(t, { clock, outside: [listener] });
  world.server.publish([releaseOf('0.2.0', bytes)]);
  world.server.reply('/package.tar.gz', ranged(bytes));
  await world.update();
  const { runId } = await world.asked();
  await world.answer({ runId: '12345' });
  t.is((await world.status()).state, 'pending');
  await world.answer({ runId, state: 'perhaps' as never });
  t.is((await world.status()).state, 'pending');
  t.is((await world.update()).body.code, 'UPDATES_BUSY');
  const { mtimeMs } = await stat(world.inFolder('request'));
  clock.jump(16_000);
  await until(
    async () => (await stat(world.inFolder('request'))).mtimeMs > mtimeMs,
    'it is asked again, as systemd may have missed it',
  );
  t.like(JSON.parse(await readFile(world.inFolder('request'), 'utf8')), { runId });
  clock.jump(6 * 60_000);
  t.like(await world.ended(), { state: 'failed', exitCode: 1 });
  t.regex((await world.status()).reason, /root did not begin .*systemctl status weir-update/);
  // It begins after all.
  await world.answer({ runId, state: 'failed', exitCode: 3, reason: '', finishedAt: 5_000 });
  for (const _ of [1, 2, 3]) t.like(await world.status(), { exitCode: 3, finishedAt: 5 });
  t.is(ended.length, 2, 'each end is told once');
  await world.answer({ runId });
  t.is((await world.status()).state, 'success');
  await world.answer({ runId, state: 'failed', exitCode: 1, reason: 'again' });
  t.is((await world.status()).state, 'success', 'what is done stays done');
});

test('a download that breaks goes on where it broke, and a kill in the middle fails the run', async (t) => {
  const world = await UpdateWorld.open(t);
  world.server.publish([releaseOf('0.2.0', bytes)]);
  let calls = 0;
  world.server.reply('/package.tar.gz', (request, response) => {
    (calls++ === 0 ? cutAfter(bytes, 100_000) : ranged(bytes))(request, response);
  });
  await world.update();
  await world.asked();
  const [all, rest, ...more] = world.server.asked.filter((path) => path.startsWith('/package'));
  t.deepEqual([all, more], ['/package.tar.gz', []]);
  t.regex(rest ?? '', /^\/package\.tar\.gz bytes=\d+-$/);

  const other = await UpdateWorld.open(t);
  other.server.publish([releaseOf('0.2.0', bytes)]);
  other.server.reply('/package.tar.gz', (_, response) => {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, 50_000));
  });
  await other.update();
  await until(
    async () => (await readdir(join(other.data, FOLDER))).some((name) => name.endsWith('.part')),
    'a part',
  );
  await other.restart();
  t.like(await other.status(), { state: 'failed', exitCode: 1 });
  t.regex((await other.status()).reason, /stopped before root was asked; start the update again/);
  other.server.reply('/package.tar.gz', ranged(bytes));
  t.is((await other.update()).status, 200);
  await other.asked();
});

for (const [name, file, reply, reason] of [
  [
    'another package',
    packageFile(Buffer.alloc(10, 'b')),
    Buffer.alloc(10, 'c'),
    /SHA-256 .* and the signed index has/,
  ],
  [
    'a longer one',
    packageFile(Buffer.alloc(10, 'b')),
    Buffer.alloc(11, 'b'),
    /larger than the 10 bytes|more than 11 bytes/,
  ],
  ['half of it', packageFile(bytes), bytes.subarray(0, 1000), /ended after 1000 of 300000 bytes/],
] as const)
  test(`refuses ${name} in place of the one that is signed`, async (t) => {
    const world = await UpdateWorld.open(t);
    world.server.publish([releaseOf('0.2.0', bytes, { files: [file] })]);
    world.server.reply('/package.tar.gz', (_, response) => void response.end(reply));
    await world.update();
    const end = await world.ended();
    t.like(end, { state: 'failed', exitCode: 1 });
    t.regex(end.reason, reason);
    const left = await readdir(join(world.data, FOLDER));
    t.false(left.includes('request.json'), 'root is not asked');
    t.false(left.includes('package.tar.gz'));
  });

test('looks for a release once a day, and announces each once', async (t) => {
  const found: object[] = [];
  let jobs: JobsApi | undefined;
  const listener = definePlugin({
    name: 'acme-listener',
    version: '1.0.0',
    api: 1,
    about: 'Listens.',
    uses: { list: Jobs },
    start: ({ list }) => void (jobs = list),
    taps: () => [tap(updateFound, (one) => void found.push(one))],
  });
  const clock = new FakeClock(Date.now());
  const world = await UpdateWorld.open(t, { outside: [listener], clock });
  world.server.publish([releaseOf('0.2.0', bytes)]);
  const look = async () => t.is((await jobs?.run('updates', 'check'))?.error, '');
  await look();
  await until(() => found.length === 1, 'it is announced');
  t.like(found[0], { version: '0.2.0', current: '0.1.0', channel: 'stable', notes: 'what is new in 0.2.0' });
  const asked = world.server.asked.length;
  await look();
  t.is(world.server.asked.length, asked, 'not due yet');
  clock.jump(24 * 3_600_000);
  await look();
  t.true(world.server.asked.length > asked);
  await world.restart();
  clock.jump(24 * 3_600_000);
  world.server.publish([releaseOf('0.3.0', bytes)]);
  await look();
  await until(() => found.length === 2, 'the next one');
  t.like(found[1], { version: '0.3.0' });
});

test('a panel that was not installed says what to do instead', async (t) => {
  await using panel = await TestPanel.boot();
  const info = await panel.get<{ canInstall: boolean; problem: string; currentVersion: string }>(
    '/panel/api/server/getPanelUpdateInfo',
  );
  t.like(info, { canInstall: false, currentVersion: '0.1.0', latestVersion: '', updateAvailable: false });
  t.regex(info.problem, /(?:git pull|image).*; no source of releases is set; set updateSource/);
  const answer = await panel.call('/panel/api/server/updatePanel', { method: 'POST', body: {} });
  t.is(answer.status, 409);
  t.is(answer.body.code, 'UPDATES_NOT_INSTALLED');
  t.regex(answer.body.msg, /git pull|image/);
});

test('the channel is a setting, and dev offers both kinds', async (t) => {
  const world = await UpdateWorld.open(t);
  world.server.publish([
    releaseOf('0.2.0', bytes),
    releaseOf('0.3.0-dev.2', bytes, { channel: 'dev' }),
    releaseOf('0.3.0-dev.10', bytes, { channel: 'dev' }),
  ]);
  t.is((await world.info())['updateVersion'], '0.2.0');
  const set = (body: object | string) =>
    world.panel.call('/panel/api/server/setUpdateChannel', {
      method: 'POST',
      ...(typeof body === 'string'
        ? { rawBody: body, headers: { 'content-type': 'application/x-www-form-urlencoded' } }
        : { body }),
    });
  for (const wrong of [{}, { dev: 'maybe' }, { dev: '' }, { dev: null }]) {
    const answer = await set(wrong);
    t.is(answer.status, 400, JSON.stringify(wrong));
    t.regex(answer.text, /dev/);
  }
  t.is((await set('dev=1')).status, 200);
  t.like(await world.info(), { channel: 'dev', updateVersion: '0.3.0-dev.10' });
  t.is((await set({ dev: false })).status, 200);
  t.is((await world.info())['channel'], 'stable');
  t.is((await world.update({ dev: 'sometimes' })).status, 400);
  t.is((await world.status()).runId, '', 'nothing has begun');
});

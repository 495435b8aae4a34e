// A source that lies, and a panel that is killed.
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { folderFor } from '../../../test/harness/folder-for.js';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import { until } from '../../../test/harness/until.js';
import { FILES, FOLDER } from '../contract.js';
import { signatureOf } from '../signing-key.js';
import { newKey, ranged, ReleaseServer, releaseOf } from './release-server.js';
import { type Status, UpdateWorld } from './update-panel.js';

const bytes = Buffer.alloc(300_000, 'a package ');
const INFO = '/panel/api/server/getPanelUpdateInfo';

test('refuses an older index than before, also after a restart', async (t) => {
  const world = await UpdateWorld.open(t);
  world.server.publish([releaseOf('0.3.0', bytes)], { number: 7 });
  t.is((await world.info())['latestVersion'], '0.3.0');
  world.server.publish([releaseOf('0.2.0', bytes)], { number: 6 });
  const replayed = await world.update();
  t.is(replayed.status, 502);
  t.regex(replayed.body.msg, /older one: it has the number 6, and number 7 was there before/);
  await world.restart();
  t.is((await world.panel.call(INFO)).body.code, 'UPDATES_SOURCE');
  // The same one again is fine.
  world.server.publish([releaseOf('0.3.0', bytes)], { number: 7 });
  await world.panel.get('/panel/api/setting/update', { body: { updateCheckHours: 0 } });
  t.is((await world.info())['latestVersion'], '0.3.0');
});

test('says why a source cannot be used, and begins nothing', async (t) => {
  const world = await UpdateWorld.open(t);
  const good = [releaseOf('0.2.0', bytes)];
  const fails = async (reason: RegExp, status = 502) => {
    const answer = await world.update();
    t.is(answer.status, status, answer.text);
    t.regex(answer.body.msg, reason);
    t.is((await world.status()).runId, '');
  };
  await fails(/answered 404/);
  const other = newKey();
  world.server.publish(good, {}, (index) => signatureOf(index, other, 'x'));
  await fails(/signed with the key [0-9A-F]{16}, and the trusted one is/);
  const index = world.server.publish(good);
  world.server.reply('/releases.json', (_, response) => void response.end(`${index.toString()} `));
  await fails(/the signature does not match/);
  world.server.reply(
    '/releases.json',
    (_, response) => void response.end(Buffer.alloc(2 * 1024 * 1024, ' ')),
  );
  await fails(/more than|larger|1048576/);
  world.server.reply('/releases.json', (_, response) => void response.destroy());
  await fails(/cannot be read/);
  world.server.publish([]);
  await fails(/there is no release in the channel stable/, 409);
  world.server.publish([releaseOf('0.1.0', bytes)]);
  await fails(/Weir 0\.1\.0 runs already/, 409);
  world.server.publish(good);
  t.is((await world.update({ version: '0.9.0' })).body.code, 'UPDATES_UNKNOWN');
  t.is((await world.update({ version: { $ne: 1 } })).status, 400);
  await world.panel.get('/panel/api/setting/update', { body: { updateSource: '' } });
  await fails(/no source of releases is set/, 409);
  for (const updateSource of ['ftp://a.example/x', 'nonsense', 'http://'])
    t.is(
      (await world.panel.call('/panel/api/setting/update', { body: { updateSource } })).status,
      400,
      updateSource,
    );
  t.is((await world.panel.call('/panel/api/setting/update', { body: { updateKey: 'RW' } })).status, 400);
});

test('a private address, and another address of the package, are not called', async (t) => {
  const world = await UpdateWorld.open(t, { env: { WEIR_OUTGOING_ALLOW: '' } });
  world.server.publish([releaseOf('0.2.0', bytes)]);
  t.regex((await world.update()).body.msg, /127\.0\.0\.1/);
  t.deepEqual(world.server.asked, []);

  const open = await UpdateWorld.open(t);
  for (const url of ['file:///etc/passwd', 'http://169.254.169.254/latest', 'http://[::1]:1/x']) {
    open.server.publish([
      releaseOf('0.2.0', bytes, { files: [{ ...releaseOf('0.2.0', bytes).files[0], url } as never] }),
    ]);
    t.is((await open.update()).status, 200);
    const end = await open.ended();
    t.is(end.state, 'failed');
    t.regex(end.reason, /not valid|not permitted|private|address/);
  }
});

test('root must trust the key: a setting is not enough', async (t) => {
  const world = await UpdateWorld.open(t, { env: { WEIR_UPDATE_KEY: '' } });
  world.server.publish([releaseOf('0.2.0', bytes)]);
  t.regex((await world.update()).body.msg, /no public key of releases is set/);
  await world.panel.get('/panel/api/setting/update', { body: { updateKey: world.server.key.publicText } });
  t.is((await world.info())['updateVersion'], '0.2.0');
  const answer = await world.update();
  t.is(answer.status, 409);
  t.regex(answer.body.msg, /root trusts no key: write WEIR_UPDATE_KEY=<public key> into \/etc\/weir\.env/);
});

test('what older programs send as a form', async (t) => {
  const world = await UpdateWorld.open(t);
  world.server.publish([releaseOf('0.2.0', bytes), releaseOf('0.3.0-dev.1', bytes, { channel: 'dev' })]);
  world.server.reply('/package.tar.gz', ranged(bytes));
  const post = (rawBody: string) =>
    world.panel.call<{ version: string }>('/panel/api/server/updatePanel', {
      method: 'POST',
      rawBody,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  t.is((await post('dev=sometimes')).status, 400);
  t.is((await post('dev=')).body.obj.version, '0.2.0');
  const { runId } = await world.asked();
  await world.answer({ runId, state: 'failed', exitCode: 1, reason: 'it does not work' });
  await world.ended();
  t.is((await post('dev=true')).body.obj.version, '0.3.0-dev.1');
});

test('damaged files of the data folder say nothing, and stop nothing', async (t) => {
  const world = await UpdateWorld.open(t);
  world.server.publish([releaseOf('0.2.0', bytes)]);
  world.server.reply('/package.tar.gz', ranged(bytes));
  await world.info();
  await world.panel.stop();
  for (const name of ['run.json', 'seen.json'])
    await writeFile(join(world.data, FOLDER, name), '{"runId": "x');
  await world.restart();
  t.like(await world.status(), { runId: '', state: 'pending' });
  t.is((await world.update()).status, 200);
  await world.asked();
});

test('a panel that is killed in a download says so, and the next update goes on there', async (t) => {
  const server = await ReleaseServer.open(t);
  const folder = await folderFor(t);
  const env = {
    WEIR_ENGINE_BIN: '/nowhere/core',
    WEIR_OUTGOING_ALLOW: server.allowed,
    WEIR_UPDATE_ROOT: join(folder, 'opt'),
    WEIR_UPDATE_KEY: server.key.publicText,
  };
  const dataDirectory = join(folder, 'data');
  const start = async () => {
    const panel = await PanelProcess.start({ dataDirectory, env });
    t.teardown(() => panel.kill('SIGKILL'));
    return panel;
  };
  server.publish([releaseOf('0.2.0', bytes)]);
  server.reply('/package.tar.gz', (_, response) => {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, 80_000));
  });
  const first = await start();
  await first.get('/panel/api/setting/update', { body: { updateSource: server.url } });
  t.is((await first.call('/panel/api/server/updatePanel', { method: 'POST', body: {} })).status, 200);
  const updates = join(dataDirectory, FOLDER);
  await until(async () => {
    const name = (await readdir(updates)).find((one) => one.endsWith('.part'));
    return name !== undefined && (await stat(join(updates, name))).size > 0;
  }, 'a part');
  await first.kill('SIGKILL');

  const next = await start();
  const status = () => next.get<Status>('/panel/api/server/getUpdateStatus');
  t.like(await status(), { state: 'failed', exitCode: 1, version: '0.2.0' });
  server.reply('/package.tar.gz', ranged(bytes));
  t.is((await next.call('/panel/api/server/updatePanel', { method: 'POST', body: {} })).status, 200);
  await until(async () => (await readdir(updates)).includes(FILES.request), 'root is asked');
  t.regex(server.asked.at(-1) ?? '', /bytes=\d+-/);
  const { runId } = await status();
  // Killed while root works: the next panel waits for it.
  await next.kill('SIGKILL');
  const last = await start();
  t.like(await last.get<Status>('/panel/api/server/getUpdateStatus'), { runId, state: 'pending' });
  t.is(JSON.parse(await readFile(join(updates, FILES.request), 'utf8')).runId, runId);
});

// Answers that come late, and clocks that are set back.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { until } from '../../../test/harness/until.js';
import { OUTCOME } from '../contract.js';
import { ranged, releaseOf } from './release-server.js';
import { UpdateWorld } from './update-panel.js';

const bytes = Buffer.alloc(1_000, 'a package ');

test('an answer to the previous update changes nothing while the next one begins', async (t) => {
  const world = await UpdateWorld.open(t);
  const { server } = world;
  server.publish([releaseOf('0.2.0', bytes)]);
  server.reply('/package.tar.gz', ranged(bytes));
  await world.update();
  const { runId } = await world.asked();
  await world.answer({ runId, state: 'failed', exitCode: 1, reason: 'it does not work' });
  t.is((await world.ended()).state, 'failed');

  const index = server.publish([releaseOf('0.2.0', bytes)]);
  let release: () => void = () => undefined;
  server.reply('/releases.json', (_, response) => (release = () => void response.end(index)));
  const asked = server.asked.length;
  const begun = world.update();
  await until(() => server.asked.length > asked, 'the index is asked for');
  await world.answer({ runId, finishedAt: Date.now() + 1 });
  t.like(await world.status(), { runId, state: 'failed' });
  release();
  t.is((await begun).status, 200);
  const next = await world.status();
  t.not(next.runId, runId);
  t.is(next.state, 'pending');
  await world.answer({ runId: (await world.asked()).runId });
  t.like(await world.ended(), { runId: next.runId, state: 'success' });
});

test('an index of a clock that was set back is read again', async (t) => {
  const clock = new FakeClock(Date.now() + 30 * 86_400_000);
  const world = await UpdateWorld.open(t, { clock });
  world.server.publish([releaseOf('0.2.0', bytes)]);
  t.like(await world.info(), { updateVersion: '0.2.0' });
  world.server.publish([releaseOf('0.3.0', bytes)]);
  t.like(await world.info(), { updateVersion: '0.2.0' }, 'it is read at most every 15 minutes');
  clock.jump(-30 * 86_400_000);
  await world.panel.login();
  t.like(await world.info(), { updateVersion: '0.3.0' });
});

test('once root has begun, a moment without its file is no failure', async (t) => {
  const clock = new FakeClock(Date.now());
  const world = await UpdateWorld.open(t, { clock });
  world.server.publish([releaseOf('0.2.0', bytes)]);
  world.server.reply('/package.tar.gz', ranged(bytes));
  await world.update();
  const { runId } = await world.asked();
  await world.answer({ runId, state: 'running', finishedAt: 0 });
  await until(async () => (await world.status()).step === 'install', 'root has begun');
  clock.jump(10 * 60_000);
  t.is((await world.status()).state, 'pending');
  await rm(join(world.root, OUTCOME));
  t.is((await world.status()).state, 'pending');
  await world.answer({ runId });
  t.is((await world.ended()).state, 'success');
});

test('an installation that does not end is given up', async (t) => {
  const clock = new FakeClock(Date.now());
  const world = await UpdateWorld.open(t, { clock });
  world.server.publish([releaseOf('0.2.0', bytes)]);
  world.server.reply('/package.tar.gz', ranged(bytes));
  await world.update();
  const { runId } = await world.asked();
  await world.answer({ runId, state: 'running', finishedAt: 0 });
  await until(async () => (await world.status()).step === 'install', 'root has begun');
  await rm(join(world.root, OUTCOME));
  clock.jump(3 * 3_600_000);
  await world.panel.login();
  const { state, reason } = await world.ended();
  t.is(state, 'failed');
  t.regex(reason, /does not end/);
});

test('an update that root runs without a record of the panel is not disturbed', async (t) => {
  const world = await UpdateWorld.open(t);
  world.server.publish([releaseOf('0.2.0', bytes)]);
  await world.answer({ runId: '7', state: 'running', finishedAt: 0 });
  const refused = await world.update();
  t.is(refused.body.code, 'UPDATES_BUSY');
  t.regex(refused.body.msg, /0\.2\.0 is being installed/);
  await world.answer({ runId: '7', state: 'running', finishedAt: 0, at: Date.now() - 3 * 3_600_000 });
  t.is((await world.update()).status, 200, 'one that never ended blocks nothing');
});

test('another source or key is asked at once', async (t) => {
  const world = await UpdateWorld.open(t);
  world.server.publish([releaseOf('0.2.0', bytes)]);
  t.like(await world.info(), { updateVersion: '0.2.0' });
  const asked = world.server.asked.length;
  await world.info();
  t.is(world.server.asked.length, asked);
  const body = { updateSource: `${world.server.url}?again` };
  await world.panel.get('/panel/api/setting/update', { body });
  await world.info();
  t.true(world.server.asked.length > asked);
});

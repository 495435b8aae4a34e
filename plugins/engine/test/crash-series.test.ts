import test from 'ava';
import { CrashSeries } from '../life/crash-series.js';
import { World } from './world.js';

test('the first reason of a loop stays, with its time, the number, and the latest reason where it differs', async (t) => {
  const clock = { now: () => now };
  let now = Date.UTC(2026, 0, 2, 3, 4, 5);
  const series = new CrashSeries(clock);
  series.failed('bad port');
  t.false(series.isLoop);
  t.is(series.describe(), 'bad port');
  now += 5000;
  series.failed('bad port');
  t.true(series.isLoop);
  t.is(series.describe(), 'bad port (the first of 2 failures in a row since 2026-01-02T03:04:05.000Z)');
  series.started();
  now += 59_999;
  series.failed('panic: x');
  t.is(
    series.describe(),
    'bad port (the first of 3 failures in a row since 2026-01-02T03:04:05.000Z; the latest: panic: x)',
  );
  series.started();
  now += 59_999;
  t.true(series.isLoop);
  now += 1;
  t.false(series.isLoop, 'it has lived for a minute');
  series.failed('other');
  t.is(series.describe(), 'other', 'a new series');
  series.started();
  series.failed('bad port');
  now += 60_000;
  t.true(series.isLoop, 'a minute without a core is no life');
  series.failed('no answer');
  t.regex(series.describe(), /^other \(the first of 3 failures .*; the latest: no answer\)$/);
});

test('the status shows the first cause while the core starts and exits again and again, until it has lived a minute', async (t) => {
  const world = new World();
  world.inbound(1);
  await world.open();
  t.teardown(() => world.supervisor.stop('end'));
  const message = () => world.supervisor.status().errorMsg;
  world.driver.die('panic: first');
  t.is(message(), 'panic: first');
  await world.until(() => world.state === 'running', 'it is back');
  t.is(message(), '', 'one crash is no loop');
  world.driver.silent.set('start', 1);
  world.driver.die('killed by SIGKILL');
  const loop = /^panic: first \(the first of \d failures in a row since 2\S+Z; the latest: (.+)\)$/;
  t.is(loop.exec(message())?.[1], 'killed by SIGKILL');
  await world.until(() => message().includes('no answer'), 'a start failed');
  t.regex(message(), /^panic: first \(the first of 3 failures/);
  await world.until(() => world.state === 'running', 'it is back again');
  t.regex(message(), /^the core exits again and again: panic: first \(the first of 3 failures/);
  world.later += 60_000;
  t.is(message(), '');
});

test('a stop and a restart by a person end the series', async (t) => {
  const world = new World();
  await world.open();
  t.teardown(() => world.supervisor.stop('end'));
  const crash = (reason: string) => {
    world.driver.die(reason);
    return world.supervisor.status().errorMsg;
  };
  crash('first');
  await world.supervisor.restart('a test');
  t.is(crash('second'), 'second');
  await world.supervisor.stop('a test');
  t.is(world.supervisor.status().errorMsg, 'a test');
  await world.supervisor.restart('a test');
  t.is(crash('third'), 'third');
});

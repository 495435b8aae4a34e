// Runs on every database in test:full.
// The clock jumps: to 1970, decades ahead, back and forth, as a machine without a battery does. Bytes count once, edits work,
// jobs run, nobody is blamed, and all agrees.
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../harness/index.js';
import { invariants } from '../harness/invariants.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 0, 15, 12);
const API = '/panel/api';
/** They call other machines. */
const ELSEWHERE = /^(certificates\/orders|updates\/|remote-texts\/|edgetunnel\/|outbounds\/watch)/;

test('whatever the clock says, bytes count once, edits work, and nobody is blamed', async (t) => {
  const [engine, clock, checks] = [new FakeEngine(), new FakeClock(NOW), invariants()];
  await using panel = await TestPanel.boot({ plugins: [engine.plugin], outside: [checks.plugin], clock });
  const inbound = await panel.addInbound();
  const { id } = await panel.addClient('ann', [inbound]);
  await panel.addClient('renews', [inbound], { expiryTime: NOW + DAY, reset: 30 });
  await panel.addClient('starts', [inbound], { expiryTime: -30 * DAY });
  await panel.addClient('daily', [inbound], { trafficReset: 'daily' });
  let moved = 0;
  let added = 0;
  const jobs = await panel.get<{ plugin: string; job: string }[]>(`${API}/system/jobs`);
  const live = async (what: string): Promise<void> => {
    // A login of another time may be over.
    await panel.login();
    engine.move(inbound, id, 100, 1000);
    moved++;
    clock.tick(5000);
    await panel.kernel.settled();
    clock.tick(61_000);
    await panel.kernel.settled();
    for (const job of jobs) {
      const name = `${job.plugin}/${job.job}`;
      if (ELSEWHERE.test(name)) continue;
      const { status, text } = await panel.call(`${API}/system/jobs/${name}`, { method: 'POST' });
      t.is(status, 200, `${what}: the job ${name}: ${text}`);
    }
    await panel.kernel.settled();
    await panel.addClient(`c${added++}`, [inbound], { expiryTime: clock.now() + DAY });
    await panel.get(`${API}/clients/update/ann`, { body: { comment: what } });
    const { traffic, comment } = await panel.get<{
      comment: string;
      traffic: { up: number; down: number; lastOnline: number };
    }>(`${API}/clients/get/ann`);
    t.deepEqual([traffic.up, traffic.down, comment], [100 * moved, 1000 * moved, what]);
    for (const path of [
      '/healthz',
      `${API}/server/status`,
      `${API}/x/usage-by-day/clients/ann`,
      `${API}/x/alarms`,
    ])
      t.is((await panel.call(path)).status, 200, `${what}: ${path}`);
    t.deepEqual(panel.faults, [], what);
    t.deepEqual(await checks.broken(), [], what);
  };
  await live('at first');
  const to = (time: number) => clock.jump(time - clock.now());
  to(NOW + HOUR);
  await live('an hour ahead');
  to(NOW - HOUR);
  await live('two hours back');
  to(1000);
  await live('in 1970');
  clock.leap(NOW - clock.now());
  await live('as after a boot without a battery');
  clock.leap(400 * DAY);
  await live('after a long sleep');
  to(NOW + 60 * 365 * DAY);
  await live('in sixty years');
  to(NOW + 400 * DAY);
  await live('and back');
  const { problems } = await panel.get<{ problems: string[] }>(`${API}/x/audit/verify`, { body: {} });
  t.deepEqual(problems, []);
});

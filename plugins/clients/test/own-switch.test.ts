// A client that an admin disabled stays disabled, whatever happens to its limits; one that a limit disabled is enabled again.
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';

const API = '/panel/api/clients';
const HOUR = 3_600_000;

async function boot(engine: FakeEngine, clock: FakeClock, dataDirectory?: string) {
  const panel = await TestPanel.boot({
    plugins: [engine.plugin],
    clock,
    ...(dataDirectory !== undefined && { dataDirectory }),
  });
  const post = (path: string, body: object = {}) => panel.get(`${API}/${path}`, { method: 'POST', body });
  const on = async (): Promise<string> =>
    (await panel.get<{ email: string; enable: boolean }[]>(`${API}/list`))
      .flatMap(({ email, enable }) => (enable ? [email] : []))
      .join();
  const tick = async (ms: number): Promise<void> => {
    clock.tick(ms - 5000);
    await panel.kernel.settled();
    clock.tick(5000);
    await panel.kernel.settled();
  };
  return { panel, post, on, tick };
}

test('never enables a client that an admin disabled', async (t) => {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const first = await boot(engine, clock);
  t.teardown(() => first.panel[Symbol.asyncDispose]());
  const { panel, post, on, tick } = first;
  await panel.get('/panel/api/setting/update', { body: { timeLocation: 'UTC', sessionMaxAge: 525_600 } });
  const id = await panel.addInbound({ trafficReset: 'hourly' });
  const limits = { totalGB: 1000, expiryTime: clock.now() + 2 * HOUR };
  const names = ['early', 'late', 'limit'];
  const ids = new Map<string, number>();
  for (const email of names) ids.set(email, (await panel.addClient(email, [id], limits)).id);
  const coreHas = (): string => names.filter((email) => engine.users.has(`i${id}.c${ids.get(email)}`)).join();

  await post('update/early', { enable: false });
  t.is(await on(), 'late,limit');
  for (const client of ids.values()) engine.move(id, client, 400, 600);
  await tick(10_000);
  t.is(await on(), '', 'the others are at their quota');
  // At its limit as well, the last word is a person's.
  await post('bulkDisable', { emails: ['late'] });

  await post('bulkAdjust', { emails: names, addDays: 0, addBytes: 5000 });
  t.is(await on(), 'limit', 'the limit is raised');
  await post('bulkAdjust', { emails: names, addBytes: -5000 });
  t.is(await on(), '', 'and lowered');
  for (const email of names) await post(`update/${email}`, { totalGB: 0 });
  t.is(await on(), 'limit', 'there is no limit');
  for (const email of names) await post(`update/${email}`, { totalGB: 1000 });
  await post('resetAllTraffics');
  t.is(await on(), 'limit', 'all traffic is reset');
  for (const email of names) await post(`updateTraffic/${email}`, { upload: 1000, download: 1 });
  t.is(await on(), '', 'counters are set to the quota');
  for (const email of names) await post(`updateTraffic/${email}`, { upload: 0, download: 1 });
  t.is(await on(), 'limit', 'counters are set below the quota');
  for (const email of names) await post(`updateTraffic/${email}`, { upload: 1000, download: 0 });
  await tick(HOUR);
  t.is(await on(), 'limit', 'a new period of the inbound begins');
  t.is(coreHas(), 'limit');

  await tick(HOUR);
  t.is(await on(), '', 'the time of all is over');
  await panel.stop();
  const again = await boot(engine, clock, panel.dataDirectory);
  t.teardown(() => again.panel.stop());
  await again.tick(10_000);
  t.is(await again.on(), '', 'after a restart');
  await again.post('bulkAdjust', { emails: names, addDays: 30 });
  t.is(await again.on(), 'limit', 'more days, after a restart');
  for (const email of names) await again.post(`${email}/attach`, { inboundIds: [id] });
  await again.post('groups/bulkAdd', { emails: names, group: 'g' });
  for (const email of names) await again.post(`update/${email}`, { comment: 'x', expiryTime: 0 });
  t.is(await again.on(), 'limit', 'edits of other fields');
  t.is(coreHas(), 'limit');

  await again.post('bulkEnable', { emails: names });
  t.is(await again.on(), names.join(), 'a person may change their mind');
  t.is(coreHas(), names.join());
});

// Runs on every database.
// Each action of a job changes what the bulk endpoint changes, and says why it does not.
import test from 'ava';
import {
  listed as listedBy,
  addClients,
  boot,
  clientOf,
  clientsOf,
  DAY_MS,
  emailOf,
  EXPIRY,
  run,
  skippedOf,
  start,
} from './world.js';

const GB = 2 ** 30;

test('adjust: what does not fit is named, the rest is done, and a retry does not do it twice', async (t) => {
  const { panel, inbound } = await boot(t);
  await addClients(
    panel,
    inbound,
    4,
    (i) => [{}, { totalGB: GB }, { expiryTime: 0, totalGB: GB }, { expiryTime: 0 }][i] ?? {},
  );
  const job = await run(panel, { action: 'adjust', params: { addDays: 30, addBytes: GB }, filter: {} });
  t.like(job, { state: 'done', total: 4, done: 4, changed: 3, skipped: 1, failed: 0, listed: 3 });
  const after = await clientsOf(panel);
  t.deepEqual(
    after.map(({ expiryTime, totalGB }) => [
      expiryTime === 0 ? 0 : (expiryTime - EXPIRY) / DAY_MS,
      totalGB / GB,
    ]),
    [
      [30, 0],
      [30, 2],
      [0, 2],
      [0, 0],
    ],
  );
  const { items } = await skippedOf(panel, job.id);
  t.deepEqual(
    items.map(({ email, outcome, code, reason }) => [email, outcome, code, reason]),
    [
      [emailOf(0), 'partly', 'CLIENTS_NOT_ADJUSTABLE', 'unlimited traffic'],
      [emailOf(2), 'partly', 'CLIENTS_NOT_ADJUSTABLE', 'unlimited expiry'],
      [emailOf(3), 'skipped', 'CLIENTS_NOT_ADJUSTABLE', 'unlimited expiry'],
    ],
  );
  t.deepEqual(job.reasons.map(({ outcome, reason, count }) => `${outcome} ${reason} ${count}`).toSorted(), [
    'partly unlimited expiry 1',
    'partly unlimited traffic 1',
    'skipped unlimited expiry 1',
  ]);
  const again = await panel.get<{ id: number; total: number }>(`/panel/api/x/jobs/${job.id}/retry`, {
    method: 'POST',
  });
  t.is(again.total, 1, 'the one that nothing was done to');
});

test('enable, disable and resetTraffic: as the bulk endpoints, with what was so before apart', async (t) => {
  const { panel, inbound, engine, clock } = await boot(t);
  await addClients(panel, inbound, 3, (i) => [{}, { enable: false }, { totalGB: 10 }][i] ?? {});
  const third = await clientOf(panel, emailOf(2));
  engine.move(inbound, third.id, 10, 10);
  clock.tick(5_000);
  await panel.kernel.settled();
  t.deepEqual(
    (await clientsOf(panel)).map(({ enable }) => enable),
    [true, false, false],
  );
  const enabled = await run(panel, { action: 'enable', filter: {} });
  t.like(enabled, { changed: 1, unchanged: 1, skipped: 1 });
  t.is(enabled.reasons[0]?.code, 'CLIENTS_AT_LIMIT');
  const reset = await run(panel, { action: 'resetTraffic', filter: { status: 'depleted' } });
  t.like(reset, { total: 1, changed: 1 });
  t.deepEqual(
    (await clientsOf(panel)).map(({ enable }) => enable),
    [true, true, true],
  );
  const disabled = await run(panel, { action: 'disable', filter: {}, except: { ids: [third.id] } });
  t.like(disabled, { total: 2, changed: 2 });
  t.deepEqual(
    (await clientsOf(panel)).map(({ enable }) => enable),
    [false, false, true],
  );
});

test('attach, detach, setGroup and delete', async (t) => {
  const { panel, inbound } = await boot(t);
  const other = await panel.addInbound();
  await addClients(panel, inbound, 3);
  await panel.get(`/panel/api/clients/${emailOf(0)}/attach`, { body: { inboundIds: [other] } });
  const inbounds = async () => (await clientsOf(panel)).map(({ inboundIds }) => inboundIds);
  t.like(await run(panel, { action: 'attach', params: { inboundIds: [other] }, filter: {} }), {
    changed: 2,
    unchanged: 1,
  });
  t.deepEqual(await inbounds(), [
    [inbound, other],
    [inbound, other],
    [inbound, other],
  ]);
  const emails = [emailOf(1), emailOf(2), 'nobody', emailOf(1)];
  const detached = await run(panel, { action: 'detach', params: { inboundIds: [inbound] }, emails });
  t.like(detached, { total: 3, changed: 2, skipped: 1, filter: null });
  t.deepEqual(await inbounds(), [[inbound, other], [other], [other]]);
  t.like((await skippedOf(panel, detached.id)).items[0], {
    id: 0,
    email: 'nobody',
    code: 'CLIENTS_NOT_FOUND',
  });

  t.like(await run(panel, { action: 'setGroup', params: { group: 'family' }, emails }), { changed: 2 });
  t.deepEqual(await listedBy(panel, { group: 'family' }), [emailOf(1), emailOf(2)]);
  const groups = await panel.get<{ name: string }[]>('/panel/api/clients/groups');
  t.deepEqual(
    groups.map(({ name }) => name),
    ['family'],
  );
  t.like(await run(panel, { action: 'setGroup', params: { group: '' }, emails: [emailOf(1)] }), {
    changed: 1,
  });
  t.like(await run(panel, { action: 'delete', filter: { group: 'FAMILY' } }), { total: 1, changed: 1 });
  t.deepEqual(
    (await clientsOf(panel)).map(({ email }) => email),
    [emailOf(0), emailOf(1)],
  );
});

test('a dry run says how many match and changes nothing', async (t) => {
  const { panel, inbound } = await boot(t);
  await addClients(panel, inbound, 30);
  const body = {
    action: 'delete',
    filter: { search: 'c00001' },
    except: { emails: [emailOf(12)] },
    dryRun: true,
  };
  const found = await start(panel, body);
  t.like(found, { id: null, total: 9, unknown: 0 });
  t.deepEqual(
    found.sample,
    Array.from({ length: 10 }, (_, i) => emailOf(10 + i)).filter((email) => email !== emailOf(12)),
  );
  t.is((await clientsOf(panel)).length, 30);
  t.deepEqual(await panel.get('/panel/api/x/jobs'), []);
  t.is((await start(panel, { ...body, filter: {} })).sample.length, 20);
});

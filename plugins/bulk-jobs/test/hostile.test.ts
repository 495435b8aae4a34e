// Runs on every database.
// Bodies that must not start a job, callers who may not, and calls that come twice.
import test from 'ava';
import {
  addClients,
  boot,
  clientsOf,
  DAY_MS,
  emailOf,
  ended,
  EXPIRY,
  Gate,
  type Job,
  JOBS,
  run,
  start,
  type Started,
} from './world.js';

test('a body that is not understood whole is refused, and the field is named', async (t) => {
  const { panel, inbound } = await boot(t);
  await addClients(panel, inbound, 3);
  const http = await panel
    .addInbound({ protocol: 'tunnel', settings: { address: '192.0.2.1', port: 53 } })
    .catch(() => 0);
  const filter = {};
  const action = 'disable';
  const refused: readonly (readonly [body: unknown, path: string])[] = [
    [{}, 'action'],
    [{ action: 'explode', filter }, 'action'],
    [{ action }, 'filter'],
    [{ action, filter, emails: [] }, 'emails'],
    [{ action, filter, dryrun: true }, 'dryrun'],
    [{ action, filter, dryRun: 'true' }, 'dryRun'],
    [{ action, filter: { serch: 'x' } }, 'filter.serch'],
    [{ action, filter: { enabled: false } }, 'filter.enabled'],
    [{ action, filter: { page: 1 } }, 'filter.page'],
    [{ action, filter: { status: 'deplete' } }, 'filter.status'],
    [{ action, filter: { filter: 'active,nope' } }, 'filter.filter'],
    [{ action, filter: { status: 'active', filter: 'online' } }, 'filter.filter'],
    [{ action, filter: { inboundIds: '1,two' } }, 'filter.inboundIds'],
    [{ action, filter: { inbound: '-1' } }, 'filter.inbound'],
    [{ action, filter: { inboundIds: [1] } }, 'filter.inboundIds'],
    [{ action, filter: { search: 'x'.repeat(256) } }, 'filter.search'],
    [{ action, filter: { expiryFrom: 1.5 } }, 'filter.expiryFrom'],
    [{ action, filter: [] }, 'filter'],
    [{ action, filter: null }, 'filter'],
    [{ action, filter: 'all' }, 'filter'],
    [{ action, emails: 'c000000' }, 'emails'],
    [{ action, emails: [1] }, 'emails.0'],
    [{ action, emails: Array.from({ length: 10_001 }, () => 'x') }, 'emails'],
    [{ action, filter, except: [emailOf(0)] }, 'except'],
    [{ action, filter, except: { emails: ['nobody'] } }, 'except.emails'],
    [{ action, filter, except: { ids: ['1'] } }, 'except.ids.0'],
    [{ action, filter, except: { email: [] } }, 'except.email'],
    [{ action, filter, params: { addDays: 1 } }, 'params.addDays'],
    [{ action, filter, params: [] }, 'params'],
    [{ action: 'adjust', filter }, 'params.addDays'],
    [{ action: 'adjust', filter, params: { addDays: 0 } }, 'params.addDays'],
    [{ action: 'adjust', filter, params: { addDays: 40_000 } }, 'params.addDays'],
    [{ action: 'adjust', filter, params: { addDays: 1, days: 1 } }, 'params.days'],
    [{ action: 'attach', filter }, 'params.inboundIds'],
    [{ action: 'attach', filter, params: { inboundIds: [] } }, 'params.inboundIds'],
    [{ action: 'attach', filter, params: { inboundIds: [99] } }, 'params.inboundIds'],
    [{ action: 'attach', filter, params: { inboundIds: [http || 98] } }, 'params.inboundIds'],
    [{ action: 'detach', filter, params: { inboundIds: [] } }, 'params.inboundIds'],
    [{ action: 'setGroup', filter }, 'params.group'],
    [{ action: 'setGroup', filter, params: { group: 'a\u0000b' } }, 'params.group'],
    [{ action: 'setGroup', filter, params: { group: 'a\u200bb' } }, 'params.group'],
    [{ action: 'delete', filter, params: { keepTraffic: 1 } }, 'params.keepTraffic'],
    [JSON.parse('{"action":"delete","__proto__":{"filter":{}}}'), '__proto__'],
    [JSON.parse('{"action":"delete","filter":{"__proto__":{"search":"x"}}}'), 'filter.__proto__'],
  ];
  for (const [body, path] of refused) {
    const { status, body: answer } = await panel.call<{ issues: { path: string }[] } | null>(JOBS, { body });
    const said = `${JSON.stringify(body).slice(0, 100)}: ${status} ${answer.msg}`;
    t.is(status, 400, said);
    t.true(
      answer.obj?.issues.some((issue) => issue.path === path),
      `${said}; ${JSON.stringify(answer.obj)}`,
    );
  }
  for (const rawBody of [
    '',
    '[]',
    'null',
    '{"action":"disable","filter":{},"__proto__":{"dryRun":true}}',
    '{"action"',
  ]) {
    const { status } = await panel.call(JOBS, { rawBody, headers: { 'content-type': 'application/json' } });
    t.is(status, 400, rawBody);
  }
  t.deepEqual(await panel.get(JOBS), []);
  t.true((await clientsOf(panel)).every(({ enable }) => enable));
  for (const path of ['0', '-1', 'x', '1.5', '9'.repeat(30)])
    t.true([400, 404].includes((await panel.call(`${JOBS}/${path}`)).status), path);
  for (const path of ['7', '7/skipped', '7/skipped.csv'])
    t.is((await panel.call(`${JOBS}/${path}`)).status, 404, path);
  for (const path of ['7/stop', '7/retry'])
    t.is((await panel.call(`${JOBS}/${path}`, { method: 'POST' })).body.code, 'BULK_JOBS_NOT_FOUND', path);
  for (const query of ['page=0', 'pageSize=1001', 'page=x'])
    t.is((await panel.call(`${JOBS}/7/skipped?${query}`)).status, 400, query);
});

test('nobody without a login or without the token of the page starts, sees or stops a job', async (t) => {
  const { panel, inbound } = await boot(t);
  await addClients(panel, inbound, 2);
  const { id } = await run(panel, { action: 'disable', filter: {} });
  const body = { action: 'delete', filter: {} };
  for (const [path, method] of [
    ['', 'POST'],
    [`/${id}/stop`, 'POST'],
    [`/${id}/retry`, 'POST'],
    ['', 'GET'],
    [`/${id}`, 'GET'],
    [`/${id}/skipped`, 'GET'],
    [`/${id}/skipped.csv`, 'GET'],
  ] as const) {
    const options = { method, ...(method === 'POST' && { body }) };
    t.is((await panel.call(JOBS + path, { ...options, anonymous: true })).status, 401, `${method} ${path}`);
    if (method === 'POST')
      t.is(
        (await panel.call(JOBS + path, { ...options, headers: { 'x-csrf-token': 'wrong' } })).status,
        403,
        path,
      );
  }
  t.is((await clientsOf(panel)).length, 2);
});

test('an admin token starts jobs under its own name', async (t) => {
  const { panel, inbound } = await boot(t);
  await addClients(panel, inbound, 2);
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'shop' },
  });
  const answer = await panel.call<Started>(JOBS, {
    body: { action: 'disable', filter: {} },
    anonymous: true,
    headers: { authorization: `Bearer ${token}` },
  });
  t.like(await ended(panel, answer.body.obj.id), { changed: 2, by: { name: 'shop', kind: 'token' } });
});

test('a repetition with the same key gets the same job, and days are added once', async (t) => {
  const { panel, inbound } = await boot(t);
  await addClients(panel, inbound, 5);
  const call = (addDays: number) =>
    panel.call<Started>(JOBS, {
      body: { action: 'adjust', params: { addDays }, filter: {} },
      headers: { 'idempotency-key': 'one' },
    });
  const first = await call(5);
  await ended(panel, first.body.obj.id);
  const second = await call(5);
  t.deepEqual(second.body, first.body);
  t.is(second.headers.get('idempotency-replayed'), 'true');
  t.is((await call(6)).status, 422);
  t.is((await panel.get<Job[]>(JOBS)).length, 1);
  t.true((await clientsOf(panel)).every(({ expiryTime }) => expiryTime === EXPIRY + 5 * DAY_MS));
});

test('ten jobs may be open', async (t) => {
  const gate = new Gate();
  const { panel, inbound } = await boot(t, [gate.plugin]);
  await addClients(panel, inbound, 3);
  gate.arrived = 0;
  gate.passes = 0;
  const body = { action: 'disable', filter: {} };
  const answers = await Promise.all(Array.from({ length: 12 }, () => panel.call<Started>(JOBS, { body })));
  t.is(answers.filter(({ status }) => status === 200).length, 10);
  t.deepEqual(
    answers.flatMap(({ body: { code = [] } }) => code),
    ['BULK_JOBS_TOO_MANY', 'BULK_JOBS_TOO_MANY'],
  );
  t.is((await panel.call(JOBS, { body: { ...body, dryRun: true } })).status, 200);
  gate.passes = Infinity;
  const ids = answers.flatMap(({ status, body: { obj } }) => (status === 200 ? obj.id : []));
  await ended(panel, Math.max(...ids));
  t.is((await start(panel, body)).total, 3);
});

// Records of nodes, and their status, with real panels as nodes.
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { refused, until } from '../../../test/harness/index.js';
import { editDatabase, withDatabase } from '../../../test/harness/edit-database.js';
import {
  add,
  boot,
  guidOf,
  list,
  local,
  NODES,
  only,
  placeOf,
  portOf,
  server,
  STATUS,
  statusOf,
  tokenOf,
} from './world.js';

test('a panel becomes a node: added, shown, probed, disabled, deleted', async (t) => {
  const { panel } = await boot(t);
  const { panel: far } = await boot(t);
  const body = await placeOf(far, { name: 'far', remark: 'in a rack' });
  t.deepEqual(await list(panel), []);
  const id = await add(panel, body);

  const node = await only(panel);
  t.is(node.status, 'online');
  t.is(node.guid, await guidOf(far));
  t.is(node.parentGuid, await guidOf(panel));
  t.is(node.apiToken, '');
  t.true(node.hasApiToken);
  t.true(node.memPct > 0);
  t.is(node.panelVersion, '0.1.0');
  t.deepEqual(node.problems, []);
  t.true(Math.abs(node.lastHeartbeat - Date.now() / 1000) < 600, 'in seconds');
  t.deepEqual(await panel.get(`${NODES}/get/${id}`), node);

  await panel.get(`${NODES}/setEnable/${id}`, { body: { enable: false } });
  t.false((await only(panel)).enable);
  t.is((await only(panel)).status, 'online', 'frozen');
  await panel.get(`${NODES}/setEnable/${id}`, { body: { enable: true } });
  const probed = await panel.get<{ status: string; latencyMs: number }>(`${NODES}/probe/${id}`, {
    method: 'POST',
  });
  t.is(probed.status, 'online');

  const stored = await withDatabase(panel.dataDirectory, (db) => db.query('SELECT api_token FROM nodes'));
  t.regex(JSON.stringify(stored), /api_token/);
  t.false(JSON.stringify(stored).includes(String(body['apiToken'])), 'sealed');
  t.false(panel.log.some((line) => line.includes(String(body['apiToken']))));

  await panel.get(`${NODES}/del/${id}`, { method: 'POST' });
  t.deepEqual(await list(panel), []);
  const states = await withDatabase(panel.dataDirectory, (db) => db.query('SELECT node_id FROM node_states'));
  t.false(JSON.stringify(states).includes('node_id'));
  t.deepEqual(panel.faults, []);
});

test('a token is kept when it is blank, replaced, and removed only on request', async (t) => {
  const { panel } = await boot(t);
  const { panel: far } = await boot(t);
  const id = await add(panel, await placeOf(far));
  const update = (body: object) => panel.get(`${NODES}/update/${id}`, { body });
  const works = async () =>
    (await panel.get<{ status: string }>(`${NODES}/probe/${id}`, { method: 'POST' })).status === 'online';

  await update({ ...(await only(panel)), remark: 'sent back as it was shown' });
  t.true(await works());
  await update({ apiToken: 'wrong' });
  t.false(await works());
  t.regex((await only(panel)).lastError, /does not accept the API token/);
  await update({ apiToken: await tokenOf(far) });
  t.true(await works());
  await refused(
    t,
    panel,
    `${NODES}/update/${id}`,
    { body: { clearApiToken: true } },
    {
      status: 400,
      code: 'NODES_NO_TOKEN',
    },
  );
  await refused(
    t,
    panel,
    `${NODES}/update/${id}`,
    { body: { clearApiToken: true, apiToken: 'x' } },
    {
      status: 400,
      code: 'KERNEL_INVALID',
      field: 'clearApiToken',
    },
  );
  await update({ clearApiToken: true, enable: false });
  t.false((await only(panel)).hasApiToken);
});

test('what is not valid is refused by the name of its field, and nothing is saved', async (t) => {
  const { panel } = await boot(t);
  const good = local(1, 'token', { enable: false, name: 'good' });
  const wrong: readonly (readonly [Record<string, unknown>, string])[] = [
    [{ name: ' ' }, 'name'],
    [{ address: '' }, 'address'],
    [{ address: 'https://node.example.com' }, 'address'],
    [{ address: 'node.example.com/panel' }, 'address'],
    [{ address: 'user@node.example.com' }, 'address'],
    [{ port: 0 }, 'port'],
    [{ port: 70_000 }, 'port'],
    [{ basePath: '/../x' }, 'basePath'],
    [{ basePath: '/a b/' }, 'basePath'],
    [{ scheme: 'ftp' }, 'scheme'],
    [{ apiToken: 'a\nb' }, 'apiToken'],
    [{ tlsVerifyMode: 'none' }, 'tlsVerifyMode'],
    [{ tlsVerifyMode: 'pin' }, 'tlsVerifyMode'],
    [{ tlsVerifyMode: 'mtls' }, 'tlsVerifyMode'],
    [{ scheme: 'https', tlsVerifyMode: 'pin' }, 'pinnedCertSha256'],
    [{ pinnedCertSha256: 'abc' }, 'pinnedCertSha256'],
    [{ inboundSyncMode: 'some' }, 'inboundSyncMode'],
    [{ inboundTags: 'all' }, 'inboundTags'],
  ];
  for (const [fields, field] of wrong)
    await refused(
      t,
      panel,
      `${NODES}/add`,
      { body: { ...good, ...fields } },
      {
        status: 400,
        code: 'KERNEL_INVALID',
        field,
      },
    );
  t.deepEqual(await list(panel), []);
  await panel.get(`${NODES}/add`, { body: { ...good, basePath: 'hidden', address: '[::1]' } });
  const [node] = (await list(panel)) as unknown as { basePath: string; address: string }[];
  t.is(node?.basePath, '/hidden/');
  t.is(node?.address, '::1');
  await refused(t, panel, `${NODES}/add`, { body: good }, { status: 409, code: 'NODES_NAME_TAKEN' });
  for (const path of [`${NODES}/get/99`, `${NODES}/webCert/99`, `${NODES}/history/99/cpu/2`])
    await refused(t, panel, path, {}, { status: 404, code: 'NODES_NOT_FOUND' });
  await refused(t, panel, `${NODES}/history/1/disk/2`, {}, { status: 400, code: 'KERNEL_INVALID' });
  await refused(t, panel, `${NODES}/history/1/cpu/3`, {}, { status: 400, code: 'KERNEL_INVALID' });
});

test('a form has its list of tags as one key, several or a blank one', async (t) => {
  const { panel } = await boot(t);
  const send = (path: string, tags: readonly string[]) =>
    panel.get(`${NODES}/${path}`, {
      rawBody: new URLSearchParams([
        ...Object.entries({ name: 'good', address: 'good.example', apiToken: 'token', enable: 'false' }),
        ...tags.map((tag) => ['inboundTags', tag] as [string, string]),
      ]).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  const tags = async () => ((await list(panel))[0] as unknown as { inboundTags: string[] }).inboundTags;
  await send('add', ['one']);
  t.deepEqual(await tags(), ['one']);
  await send('update/1', ['one', 'two']);
  t.deepEqual(await tags(), ['one', 'two']);
  await send('update/1', ['']);
  t.deepEqual(await tags(), []);
});

test('a node that does not answer is not added, and the reason is told', async (t) => {
  const { panel } = await boot(t);
  const { panel: far } = await boot(t);
  const place = await placeOf(far);
  const cases: readonly (readonly [Record<string, unknown>, RegExp])[] = [
    [{ port: 1 }, /nothing listens at 127\.0\.0\.1:1/],
    [{ apiToken: 'wrong' }, /does not accept the API token \(401\)/],
    [{ basePath: '/elsewhere/' }, /there is no \/elsewhere\/panel.*404/],
    [{ scheme: 'https' }, /speaks http, not https/],
    [{ allowPrivateAddress: false }, /not a public address; if that is meant, set allowPrivateAddress/],
    [{ port: portOf(panel), apiToken: await tokenOf(panel) }, /a listener of this panel itself/],
  ];
  for (const [fields, says] of cases) {
    const answer = await panel.call(`${NODES}/add`, { body: { ...place, ...fields } });
    t.is(answer.status, 422);
    t.is(answer.body.code, 'NODES_UNREACHABLE');
    t.regex(answer.body.msg, says);
  }
  t.deepEqual(await list(panel), []);
});

test('one lost heartbeat is no outage, three are; the change is told once, and the history has holes', async (t) => {
  const { panel, clock } = await boot(t);
  const far = await server(t, statusOf(STATUS));
  const id = await add(panel, local(far.port, 'token'));
  t.is((await only(panel)).status, 'online');
  const beat = async (): Promise<void> => {
    const before = far.asked.length;
    clock.tick(5_000);
    await until(() => far.asked.length > before, 'a heartbeat');
    // The job is over a moment later, and does not run twice at once.
    await sleep(150);
  };
  far.answer = (_request, response) => void response.destroy();
  const failed = async (says: string): Promise<void> => {
    await beat();
    await until(async () => (await only(panel)).lastError !== '', 'the error is shown');
    t.is((await only(panel)).status, says);
  };
  const broken = far.answer;
  await failed('online');
  await failed('online');
  // Three in a row: these two are over.
  far.answer = statusOf(STATUS);
  await beat();
  await until(async () => (await only(panel)).lastError === '', 'it has answered');
  far.answer = broken;
  await failed('online');
  await failed('online');
  await beat();
  await until(async () => (await only(panel)).status === 'offline', 'it is offline');
  far.answer = statusOf(STATUS);
  await beat();
  await until(async () => (await only(panel)).status === 'online', 'it is online');
  t.is((await only(panel)).lastError, '');
  const points = await panel.get<{ t: number; v: number }[]>(`${NODES}/history/${id}/cpu/30`);
  t.true(points.length > 0);
  t.true(points.every(({ v }) => v === 12.5));
  t.deepEqual(panel.faults, []);
});

test('what a node answered before it was changed is not news of it, and a status that was not written is written later', async (t) => {
  const { panel, clock } = await boot(t);
  const far = await server(t, statusOf(STATUS));
  const id = await add(panel, local(far.port, 'token'));
  const enable = (on: boolean) => panel.get(`${NODES}/setEnable/${id}`, { body: { enable: on } });
  const probe = () => panel.call(`${NODES}/probe/${id}`, { method: 'POST' });
  let isAsked = false;
  let answer = (): void => undefined;
  far.answer = (_request, response) => {
    isAsked = true;
    answer = () => void response.destroy();
  };
  const probing = probe();
  await until(() => isAsked, 'it is asked');
  await enable(false);
  far.answer = (_request, response) => void response.destroy();
  answer();
  await probing;
  t.like(await only(panel), { status: 'online', lastError: '' }, 'as it was when it was disabled');

  await enable(true);
  await panel.get('/panel/api/setting/update', { body: { nodeDownThreshold: 1 } });
  await editDatabase(panel.dataDirectory, [
    `CREATE TRIGGER full_disk BEFORE INSERT ON node_states BEGIN SELECT RAISE(ABORT, 'disk full'); END`,
  ]);
  await probe();
  t.is((await only(panel)).status, 'offline');
  // Nothing is heard of it any more.
  await enable(false);
  await editDatabase(panel.dataDirectory, ['DROP TRIGGER full_disk']);
  clock.tick(60_000);
  const stored = async () =>
    JSON.stringify(
      await withDatabase(panel.dataDirectory, (db) => db.query('SELECT state FROM node_states')),
    );
  await until(async () => (await stored()).includes('offline'), 'it is written');
  t.deepEqual(panel.faults, []);
});

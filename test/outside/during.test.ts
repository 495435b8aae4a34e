// A record in the transaction of another plugin's change, by a third-party plugin, in a process that is killed: both or neither.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { definePlugin, tap } from '../../kernel/index.js';
import { duringClientSave, prepareClientSave } from '../../plugins/clients/contract.js';
import { duringInboundSave, prepareInboundSave } from '../../plugins/inbounds/contract.js';
import { FakeEngine } from '../harness/fake-engine.js';
import { PanelProcess } from '../harness/panel-process.js';
import { TestPanel } from '../harness/panel.js';
import { folderOf, thirdParty, writeFiles } from './third-party.js';

/** Records emails, and stops in the middle of the transaction for those that begin with `stop`. */
const RECORDER = `
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { column, definePlugin, list, payload, route, table, tap, text } from '@weir-panel/weir/kernel';
import { duringClientSave } from '@weir-panel/weir/plugins/clients';
export default definePlugin({
  name: 'recorder', version: '1.0.0', api: 1, about: 'For a test.',
  tables: { records: table('x_recorder_records', { id: column.id(), text: column.text() }) },
  migrations: [{ name: '0001', up: ({ id, text }) => ['CREATE TABLE x_recorder_records (id ' + id + ', text ' + text + ')'] }],
  taps: ({ dataDirectory }) => [
    tap(duringClientSave, async ({ changes, who }, tx) => {
      for (const { kind, after } of changes)
        await tx.run('INSERT INTO x_recorder_records (text) VALUES (:text)', { text: who.name + ' ' + kind + ' ' + after?.email });
      if (!changes.some(({ after }) => after?.email.startsWith('stop'))) return;
      appendFileSync(join(dataDirectory, 'reached'), 'x');
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    }),
  ],
  routes: ({ tables }) => [
    route({
      method: 'GET', path: '/panel/api/x/recorder/records', doc: 'x', reply: payload(list(text())),
      handle: async () => (await tables.records.findAll({ order: ['id'] })).map((row) => row.get().text),
    }),
  ],
});
`;

test('kill -9 in the middle of a write with a record leaves neither; right after the answer, both', async (t) => {
  const folder = await folderOf(t);
  const reference = await thirdParty(folder, 'recorder', RECORDER);
  await writeFiles(folder, { 'weir.json': { preset: 'minimal', plugins: { [reference]: true } } });
  const start = () =>
    PanelProcess.start({
      dataDirectory: folder,
      env: { WEIR_ENGINE_BIN: '/nowhere/xray', TEST_PANEL_LIMITS: '{"during":60000}' },
    });
  const first = await start();
  t.teardown(() => first.dispose());
  const inbound = await first.addInbound();
  await first.addClient('ada', [inbound]);
  await first.kill('SIGKILL');

  const second = await start();
  t.teardown(() => second.dispose());
  const body = { client: { email: 'stopped' }, inboundIds: [inbound] };
  const cut = second.call('/panel/api/clients/add', { body }).catch(() => 'cut off');
  await second.until(
    () =>
      readFile(join(folder, 'reached')).then(
        () => true,
        () => false,
      ),
    'the record is written, and the write is open',
  );
  await second.kill('SIGKILL');
  t.is(await cut, 'cut off');

  const third = await start();
  t.teardown(() => third.dispose());
  t.deepEqual(await third.get('/panel/api/x/recorder/records'), ['admin added ada']);
  const clients = await third.get<{ email: string }[]>('/panel/api/clients/list');
  t.deepEqual(
    clients.map(({ email }) => email),
    ['ada'],
  );
});

const part = { version: '1.0.0', api: 1, about: 'For a test.' } as const;
const boot = (plugin: ReturnType<typeof definePlugin>) =>
  TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [plugin] });

test('a plugin that fails inside every write is named to three callers, and then edits go on without it', async (t) => {
  await using panel = await boot(
    definePlugin({
      ...part,
      name: 'broken',
      taps: () => [
        tap(duringInboundSave, () => {
          throw new Error('no ink');
        }),
      ],
    }),
  );
  const add = (port: number) =>
    panel.call('/panel/api/inbounds/add', {
      body: { port, protocol: 'vless', settings: { decryption: 'none' } },
    });
  for (const port of [20_001, 20_002, 20_003]) {
    const { status, body } = await add(port);
    t.is(status, 503);
    t.is(
      body.msg,
      'nothing was saved: the plugin broken failed at inbounds/duringInboundSave; the log says why',
    );
  }
  t.is((await add(20_004)).status, 200);
  t.is((await panel.get<unknown[]>('/panel/api/inbounds/list')).length, 1);
  t.like(
    panel.kernel.plugins().find(({ name }) => name === 'broken'),
    { state: 'running' },
  );
});

test('clients of every call are prepared, once for each call, and checked afterwards', async (t) => {
  const calls: (readonly [number, string])[] = [];
  await using panel = await boot(
    definePlugin({
      ...part,
      name: 'tidy',
      taps: () => [
        tap(prepareClientSave, (clients, { targets, who }) => {
          calls.push([clients.length, `${who.kind} ${targets.map(({ before }) => before?.email).join()}`]);
          return clients.map((client) => ({
            ...client,
            ...(client.email !== undefined && { email: client.email.toLowerCase() }),
            comment: client.comment ?? 'tidied',
          }));
        }),
      ],
    }),
  );
  const inbound = await panel.addInbound();
  await panel.addClient('ADA', [inbound]);
  await panel.call('/panel/api/clients/bulkCreate', {
    body: ['Bo', 'Cy'].map((email) => ({ client: { email }, inboundIds: [inbound] })),
  });
  await panel.call('/panel/api/clients/update/ada', { body: { totalGB: 7 } });
  await panel.call('/panel/api/clients/bulkDisable', { body: { emails: ['ada', 'bo'] } });
  const rows =
    await panel.get<{ email: string; comment: string; totalGB: number }[]>('/panel/api/clients/list');
  t.deepEqual(
    rows.map(({ email, comment, totalGB }) => [email, comment, totalGB]),
    [
      ['ada', 'tidied', 7],
      ['bo', 'tidied', 0],
      ['cy', 'tidied', 0],
    ],
  );
  // What a caller sends wrong is no fault of a plugin that changes something else.
  const twin = await panel.call('/panel/api/clients/add', {
    body: { client: { email: 'CY' }, inboundIds: [inbound] },
  });
  t.is(twin.status, 409);
  calls.pop();
  t.deepEqual(calls, [
    [1, 'session '],
    [2, 'session ,'],
    [1, 'session ada'],
    [2, 'session ada,bo'],
  ]);
  t.deepEqual(panel.faults, []);
});

test('what a plugin makes of a client or an inbound that does not fit is ignored, and names plugin and field', async (t) => {
  const wrong: Record<string, unknown>[] = [
    { totalGB: -1 },
    { email: 'a b' },
    { email: 'taken' },
    { group: 'a\u200bb' },
  ];
  let next: Record<string, unknown> = {};
  await using panel = await boot(
    definePlugin({
      ...part,
      name: 'clumsy',
      taps: () => [
        tap(prepareClientSave, (clients) => clients.map((client) => ({ ...client, ...next }))),
        tap(prepareInboundSave, (inbounds) => inbounds.map((inbound) => ({ ...inbound, port: -1 }))),
      ],
    }),
  );
  const inbound = await panel.addInbound();
  await panel.addClient('taken', [inbound]);
  for (const [i, change] of wrong.entries()) {
    next = change;
    await panel.addClient(`c${i}`, [inbound]);
  }
  const rows = await panel.get<{ email: string }[]>('/panel/api/clients/list');
  t.deepEqual(
    rows.map(({ email }) => email),
    ['taken', 'c0', 'c1', 'c2', 'c3'],
  );
  const faults = panel.faults.map((fault) => JSON.stringify(fault));
  t.regex(faults[0] ?? '', /inbounds\/prepareInboundSave of clumsy.*item 1 of 1 does not fit: .*port/);
  for (const [i, field] of ['totalGB', 'email', 'email', 'group'].entries())
    t.regex(faults[i + 1] ?? '', new RegExp(`clients/prepareClientSave of clumsy.*item 1 of 1.*${field}`));
});

test('who makes a change is told inside it: a session, a token, a plugin', async (t) => {
  const seen: string[] = [];
  await using panel = await boot(
    definePlugin({
      ...part,
      name: 'observer',
      taps: () => [
        tap(duringClientSave, ({ changes, who }) => {
          for (const { kind, after } of changes) seen.push(`${who.kind} ${who.name} ${kind} ${after?.email}`);
          t.throws(() => Object.assign(who, { name: 'nobody' }), { instanceOf: TypeError });
        }),
      ],
    }),
  );
  const inbound = await panel.addInbound();
  await panel.addClient('ada', [inbound]);
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'ci' },
  });
  await panel.call('/panel/api/clients/update/ada', {
    body: { comment: 'x' },
    anonymous: true,
    headers: { authorization: `Bearer ${token}` },
  });
  t.deepEqual(seen, ['session admin added ada', 'token ci updated ada']);
});

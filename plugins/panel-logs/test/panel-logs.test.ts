import test from 'ava';
import { definePlugin, message, route } from '../../../kernel/index.js';
import { TestPanel } from '../../../test/harness/index.js';
import { CorePanel } from '../../../test/engine/core-panel.js';
import { folderOf, writeFiles } from '../../../test/outside/third-party.js';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
const talker = definePlugin({
  name: 'talker',
  version: '0.0.0',
  api: 1,
  about: 'Logs a line of each level.',
  routes: ({ log }) => [
    route({
      method: 'POST',
      path: '/panel/api/x/talker/talk',
      doc: 'x',
      reply: message(),
      handle: () => {
        for (const level of LEVELS) log[level](`said at ${level}`, { password: 'x1x', count: 1 });
        return 'done';
      },
    }),
  ],
});

const said = async (panel: TestPanel, body?: object, count = 10_000): Promise<string[]> =>
  (
    await panel.get<string[]>(`/panel/api/server/logs/${count}`, { method: 'POST', ...(body && { body }) })
  ).flatMap((line) => / (\w+) - said at/.exec(line)?.[1] ?? []);
const talk = (panel: TestPanel) => panel.call('/panel/api/x/talker/talk', { method: 'POST' });

test('the last lines come newest first, by level, with their fields and without secrets', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [talker] });
  await talk(panel);
  t.deepEqual(await said(panel), ['ERROR', 'WARNING', 'INFO']);
  t.deepEqual(await said(panel, { level: 'debug' }), ['ERROR', 'WARNING', 'INFO', 'DEBUG']);
  for (const level of ['warning', 'warn', '4'])
    t.deepEqual(await said(panel, { level }), ['ERROR', 'WARNING']);
  for (const level of ['err', 'error', '3', 'crit', '0'])
    t.deepEqual(await said(panel, { level }), ['ERROR']);
  t.deepEqual(await said(panel, { level: 'notice' }), ['ERROR', 'WARNING', 'INFO']);
  const [line] = await panel.get<string[]>('/panel/api/server/logs/1', { body: { level: 'err' } });
  t.regex(
    line ?? '',
    /^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d ERROR - said at error \{"plugin":"talker","password":"\*\*\*","count":1\}$/,
  );
  const form = await panel.call<string[]>('/panel/api/server/logs/2', {
    rawBody: 'level=debug&syslog=false',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  t.is(form.body.obj.length, 2);
  await panel.get('/panel/api/setting/update', { body: { timeLocation: 'Asia/Kathmandu' } });
  const [there] = await panel.get<string[]>('/panel/api/server/logs/1', { body: {} });
  const zone = new Intl.DateTimeFormat('sv-SE', {
    timeZone: 'Asia/Kathmandu',
    dateStyle: 'short',
    timeStyle: 'short',
  });
  t.true(there?.startsWith(zone.format().replaceAll('-', '/').slice(0, 13)), there);
});

test('a wrong level or count is refused by name; without a service there is no journal', async (t) => {
  await using panel = await TestPanel.boot();
  for (const count of ['0', '-1', '10001', 'x'])
    t.is((await panel.call(`/panel/api/server/logs/${count}`, { body: {} })).status, 400, count);
  const wrong = await panel.call('/panel/api/server/logs/5', { body: { level: 'loud' } });
  t.is(wrong.status, 400);
  t.regex(wrong.body.msg, /level/);
  t.is((await panel.call('/panel/api/server/logs/5', { body: { syslog: 'perhaps' } })).status, 400);
  const journal = await panel.call('/panel/api/server/logs/5', { body: { syslog: true } });
  // The tests may run in a service.
  if (journal.status !== 200) {
    t.is(journal.status, 503);
    t.regex(journal.body.code ?? '', /^PANEL_LOGS_/);
  }
});

test('the level is a live setting, unless the environment sets it', async (t) => {
  const dataDirectory = await folderOf(t);
  const env = { WEIR_LOG_LEVEL: '' };
  await using panel = await TestPanel.boot({ plugins: [talker], env, dataDirectory });
  await talk(panel);
  t.deepEqual(await said(panel, { level: 'debug' }), ['ERROR', 'WARNING', 'INFO']);
  await panel.get('/panel/api/setting/update', { body: { logLevel: 'error' } });
  await talk(panel);
  t.deepEqual(await said(panel, { level: 'debug' }), ['ERROR', 'ERROR', 'WARNING', 'INFO']);
  await panel.get('/panel/api/setting/update', { body: { logLevel: 'debug' } });
  await talk(panel);
  t.deepEqual((await said(panel, { level: 'debug' })).slice(0, 4), ['ERROR', 'WARNING', 'INFO', 'DEBUG']);
  const refused = await panel.call('/panel/api/setting/update', { body: { logLevel: 'loud' } });
  t.regex(refused.body.msg, /logLevel/);
  await panel.stop();
  await using next = await TestPanel.boot({ plugins: [talker], env, dataDirectory });
  await talk(next);
  t.is((await said(next, { level: 'debug' })).length, 4, 'it is stored');

  await using pinned = await TestPanel.boot({ plugins: [talker], env: { WEIR_LOG_LEVEL: 'warn' } });
  await talk(pinned);
  t.deepEqual(await said(pinned, { level: 'debug' }), ['ERROR', 'WARNING']);
  const held = await pinned.call('/panel/api/setting/update', { body: { logLevel: 'debug' } });
  t.false(held.body.success);
  t.regex(held.body.msg, /WEIR_LOG_LEVEL/);
});

test('the config file gives the level until an admin changes it', async (t) => {
  const dataDirectory = await folderOf(t);
  await writeFiles(dataDirectory, { 'weir.json': { logLevel: 'error' } });
  const env = { WEIR_LOG_LEVEL: '', WEIR_ENGINE_BIN: '/nowhere/xray', WEIR_ENGINE_INSTALL: 'off' };
  const panel = await CorePanel.boot(t, { dataDirectory, env });
  const level = async () =>
    (await panel.get<{ logLevel: string }>('/panel/api/setting/all', { method: 'POST' })).logLevel;
  t.is(await level(), 'error');
  t.deepEqual(
    panel.log.filter((line) => line['level'] === 'info'),
    [],
  );
  await panel.get('/panel/api/setting/update', { body: { logLevel: 'info' } });
  t.is(await level(), 'info');
});

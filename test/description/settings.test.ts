// Every endpoint of the section about settings; mail, chat bot and webhook over stand-ins of their services.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import nock from 'nock';
import { mailServer } from '../../plugins/mail/test/mail-server.js';
import { BotServer, TOKEN } from '../../plugins/msg-bot/test/bot-server.js';
import { ADMIN } from '../harness/api.js';
import { editDatabase } from '../harness/edit-database.js';
import { TestPanel } from '../harness/panel.js';
import { ProgramPanel } from '../harness/program-panel.js';
import { SETTINGS } from './access.js';
import { Asking } from './asking.js';

const CHANNEL = '123456789012345678';
test.before(() => {
  nock.disableNetConnect();
  nock.enableNetConnect('127.0.0.1');
});
test.after.always(() => nock.restore());

test('a stored setting that is not valid costs only itself', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const first = await TestPanel.boot({ dataDirectory });
  await first.get('/panel/api/setting/update', { body: { subTitle: 'Weir', subUpdates: 7 } });
  await first.stop();
  await editDatabase(dataDirectory, [`UPDATE settings SET value = '"often"' WHERE name = 'subUpdates'`]);
  const panel = await TestPanel.boot({ dataDirectory });
  t.teardown(() => panel.stop());
  const all = await panel.get<Record<string, unknown>>('/panel/api/setting/all', { method: 'POST' });
  t.is(all['subTitle'], 'Weir');
  t.is(typeof all['subUpdates'], 'number');
  t.true(
    panel.log.some((line) => line.includes('subUpdates')),
    'it is logged',
  );
});

test('settings: the section of the API description', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const panel = await ProgramPanel.start({
    dataDirectory,
    env: {
      WEIR_ENGINE_BIN: '/nowhere/core',
      WEIR_ENGINE_INSTALL: 'off',
      WEIR_OUTGOING_ALLOW: 'msg-bot=127.0.0.1',
    },
  });
  t.teardown(() => panel.stop());
  const asking = new Asking(panel, SETTINGS);
  const at = '/panel/api/setting';
  const ask = <Obj = Record<string, unknown>>(path: string, body?: unknown) =>
    asking.ask<Obj>(t, `POST ${at}/${path}`, body === undefined ? {} : { body });

  const all = await ask('all');
  for (const name of ['subPath', 'jsonPath', 'altFormatPath', 'sessionMaxAge', 'timeLocation'])
    t.true(name in all, name);
  t.true(Object.keys(await ask('defaultSettings')).length > 5);
  t.true(Object.keys(await ask('factoryDefaults')).length > 50);
  // What `all` returned is taken, and changes nothing.
  await ask('update', all);
  t.deepEqual(await ask('all'), all);
  await ask('update', { ...all, subTitle: 'Weir', jsonPath: '/j/' });
  t.like(await ask('all'), { subTitle: 'Weir', jsonPath: '/j/' });
  t.is((await panel.call(`${at}/validateRegex`, { body: { regex: '^a+$' } })).body.msg, '', 'valid');
  await ask('validateRegex', { regex: '^a+$' });
  const invalid = await panel.call(`${at}/validateRegex`, { body: { regex: '(' } });
  t.false(invalid.body.success);
  t.true(invalid.body.msg !== '');
  t.truthy(await asking.ask(t, `GET ${at}/getDefaultJsonConfig`));

  const mail = await mailServer(t);
  const bot = await BotServer.start(t);
  bot.chats.add(11);
  nock('https://discord.com').post(`/api/v10/channels/${CHANNEL}/messages`).reply(200, {});
  for (const path of ['testSmtp', 'testMsgBot', 'testWebhook'])
    t.like(await ask(path), { success: false }, `${path} before anything is set`);
  await ask('update', {
    ...{ smtpHost: '127.0.0.1', smtpPort: mail.port, smtpEncryptionType: 'none' },
    ...{ smtpFrom: 'panel@example.com', smtpTo: 'ada@example.com' },
    ...{ msgBotEnable: true, msgBotToken: TOKEN, msgBotApiServer: bot.url, msgBotChatId: '11' },
    ...{ webhookEnable: true, webhookToken: `Bot MTA${'x'.repeat(60)}`, webhookChannelId: CHANNEL },
  });
  t.like(await ask('testSmtp'), { success: true, stage: 'send' });
  t.is(mail.received.length, 1);
  await panel.until(() => panel.said('the bot is connected') !== undefined, 'the bot is connected');
  for (const path of ['testMsgBot', 'testWebhook']) t.like(await ask(path), { success: true }, path);

  const next = { username: 'grace', password: 'another good password' };
  await ask('updateUser', {
    ...{ oldUsername: ADMIN.username, oldPassword: ADMIN.password },
    ...{ newUsername: next.username, newPassword: next.password },
  });
  t.is((await panel.call('/login', { body: ADMIN, anonymous: true })).status, 401);
  const login = await panel.call('/login', { body: next, anonymous: true });
  t.is(login.status, 200);
  const cookies = login.headers.getSetCookie().map((line) => line.split(';')[0] ?? '');
  panel.cookie = cookies.find((pair) => pair.startsWith('weir_session=')) ?? '';
  panel.csrf = (await panel.call<string>('/csrf-token')).body.obj;
  await ask('restartPanel');
  await panel.until(() => panel.log.filter(({ msg }) => msg === 'ready').length === 2, 'it serves again');
  asking.end(t);
});

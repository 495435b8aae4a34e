// The program with all its channels: one notification for each language, a flood, a client, and a backup in the chat.
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import test from 'ava';
import nock from 'nock';
import { SMTPServer } from 'smtp-server';
import { onSqlite } from '../../../test/harness/database.js';
import { folderFor } from '../../../test/harness/folder-for.js';
import { onlyOn } from '../../../test/harness/left-out.js';
import { ProgramPanel } from '../../../test/harness/program-panel.js';
import { BotServer } from './bot-server.js';
import { ADMIN_ID, botSettings } from './bot-world.js';

const CLIENT_ID = 77;
const LOGINS = 25;
const DAY_MS = 86_400_000;
const CHANNEL = '123456789012345678';
const run = onlyOn(onSqlite, 'SQLite', test.serial);

async function mailServer(t: { teardown(run: () => unknown): void }) {
  const mails: string[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    onData: (stream, _, done) => {
      let text = '';
      stream.on('data', (part: Buffer) => (text += String(part)));
      stream.on('end', () => {
        mails.push(text);
        done();
      });
    },
  });
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { port: (listening.address() as AddressInfo).port, mails };
}

run('each channel says it in its own language, sums up a flood, and the bot sends a backup', async (t) => {
  nock.disableNetConnect();
  nock.enableNetConnect('127.0.0.1');
  t.teardown(() => (nock.cleanAll(), nock.restore()));
  const embeds: { title: string; description: string }[] = [];
  nock('https://discord.com')
    .persist()
    .post(`/api/v10/channels/${CHANNEL}/messages`)
    .reply((_, body) => {
      embeds.push(...(body as { embeds: typeof embeds }).embeds);
      return [200, { id: '1' }];
    });
  const server = await BotServer.start(t);
  for (const chat of [ADMIN_ID, CLIENT_ID]) server.chats.add(chat);
  const { port, mails } = await mailServer(t);
  const dataDirectory = await folderFor(t);
  const panel = await ProgramPanel.start({
    dataDirectory,
    env: {
      WEIR_ENGINE_BIN: '/nowhere/core',
      WEIR_ENGINE_INSTALL: 'off',
      WEIR_OUTGOING_ALLOW: 'msg-bot=127.0.0.1',
    },
  });
  t.teardown(() => panel.stop());
  const events = 'loginSucceeded';
  await panel.get('/panel/api/setting/update', {
    body: {
      ...botSettings(server, { msgBotLang: 'zh-CN', msgBotEnabledEvents: events }),
      ...{ webhookEnable: true, webhookToken: `MTA${'x'.repeat(60)}`, webhookChannelId: CHANNEL },
      ...{ webhookLang: 'ru', webhookEnabledEvents: events },
      ...{ smtpEnable: true, smtpHost: '127.0.0.1', smtpPort: port, smtpEncryptionType: 'none' },
      ...{
        smtpFrom: 'panel@example.com',
        smtpTo: 'ada@example.com',
        smtpLang: 'en',
        smtpEnabledEvents: [events],
      },
    },
  });
  type Status = { state: string };
  const status = () => panel.get<Status>('/panel/api/x/msg-bot/status');
  await panel.until(async () => (await status()).state === 'running', 'the bot is connected');

  const tested = await panel.get<{ channel: string; delivered: boolean; reason: string }[]>(
    '/panel/api/notifications/test',
    { body: {} },
  );
  t.deepEqual(
    tested.map(({ channel, delivered }) => [channel, delivered]).sort(),
    [
      ['mail', true],
      ['msgBot', true],
      ['webhook', true],
    ],
    JSON.stringify(tested),
  );
  t.regex(server.last(ADMIN_ID)?.text ?? '', /测试/);
  t.regex(embeds[0]?.title ?? '', /Проверка/);
  t.regex(mails[0] ?? '', /Subject: .*Test/);

  const delays = monitorEventLoopDelay({ resolution: 5 });
  delays.enable();
  for (let n = 0; n < LOGINS; n++) await panel.login();
  const all = () => [server.texts(ADMIN_ID).slice(1), embeds.slice(1), mails.slice(1)];
  const summed = (texts: readonly unknown[]) =>
    texts.some((one) =>
      /又发生|ещё \d+ раз|more times/.test(typeof one === 'string' ? one : JSON.stringify(one)),
    );
  await panel.until(() => all().every(summed), 'a summary on each channel');
  delays.disable();
  t.log(`longest stall: ${(delays.max / 1e6).toFixed(0)} ms`);
  for (const texts of all()) t.true(texts.length < LOGINS, String(texts.length));

  const inbound = await panel.addInbound();
  await panel.addClient('ann', [inbound], { tgId: CLIENT_ID, expiryTime: Date.now() + DAY_MS });
  await panel.until(() => server.texts(CLIENT_ID).length > 0, 'the client is warned');
  t.is(server.texts(CLIENT_ID).length, 1);

  const sent = await panel.call('/panel/api/backuptotgbot', { body: {} });
  t.regex(sent.body.msg, /sent to 1 chats/);
  const [file] = server.files;
  t.is(String(file?.bytes.subarray(0, 15)), 'SQLite format 3');
  t.deepEqual(
    await readdir(join(dataDirectory, 'backups')).then((names) => names.includes(file?.name ?? '')),
    true,
  );
  t.deepEqual(await readdir(join(dataDirectory, 'snapshots')).catch(() => []), []);
  const log = JSON.stringify(panel.log);
  for (const secret of [String(botSettings(server).msgBotToken), 'x'.repeat(60)])
    t.false(log.includes(secret));
  t.deepEqual(
    panel.log.filter(({ level, plugin }) => level === 'error' && plugin !== 'engine'),
    [],
  );
});

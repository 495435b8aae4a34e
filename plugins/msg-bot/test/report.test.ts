// The report and backups as files.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { folderFor } from '../../../test/harness/folder-for.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { definePlugin, type Principal, provide } from '../../../kernel/index.js';
import { Backups, type BackupsApi } from '../../backup/contract.js';
import { nextRun, runTimeProblem } from '../report/run-time.js';
import { ADMIN_ID, bootBot, connected } from './bot-world.js';

const OTHER = 12;
const DAY = 86_400_000;

/** The plugin backup of a panel that runs alone: the real one needs the program around the panel. */
async function backupsOf(t: ExecutionContext, make?: BackupsApi['make']) {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'backup.db');
  await writeFile(path, 'SQLite format 3');
  const asked: Principal[] = [];
  let open = 0;
  const usual: BackupsApi['make'] = async () => ({
    name: 'weir_2026-11-23_040000.db',
    bytes: 15,
    isEncrypted: false,
    open: async () => (open++, { path, close: async () => void open-- }),
  });
  const plugin = definePlugin({
    name: 'backup',
    version: '1.0.0',
    api: 1,
    about: 'A stand-in.',
    provides: () => [
      provide(Backups, {
        make: async (who) => {
          asked.push(who);
          return (make ?? usual)(who);
        },
      }),
    ],
  });
  return { plugin, asked, isOpen: () => open > 0 };
}

test.serial('the report comes at its time, once, with who ends soon and the backup', async (t) => {
  const clock = new FakeClock(Date.UTC(2026, 0, 15, 12));
  const { plugin, asked, isOpen } = await backupsOf(t);
  await using world = await bootBot(
    t,
    { msgBotRunTime: '@every 1h', msgBotBackup: true, msgBotChatId: `${ADMIN_ID},${OTHER},-5` },
    { clock, plugins: [plugin], without: ['backup-s3'] },
  );
  await connected(world);
  const { server, panel } = world;
  for (const chat of [OTHER, -5]) server.chats.add(chat);
  server.blocked.add(OTHER);
  const inbound = await panel.addInbound();
  await panel.addClient('soon', [inbound], { expiryTime: clock.now() + DAY });
  await panel.addClient('later', [inbound], { expiryTime: clock.now() + 30 * DAY });
  await panel.addClient('<i>over', [inbound], { expiryTime: clock.now() - DAY });
  await panel.addClient('nearly', [inbound], { totalGB: 1000 });
  // A job that is still at work is not started again.
  const pass = async (minutes: number) => {
    clock.tick(minutes * 60_000);
    await sleep(300);
  };
  await pass(1);
  await pass(58);
  t.is(server.sent.length, 0);
  await pass(1);
  await pass(1);
  await world.until(() => server.files.length === 2, 'the backups');
  const report = server.texts(ADMIN_ID).find((text) => text.includes('<b>Report</b>')) ?? '';
  t.regex(report, /<b>Report<\/b>[\s\S]*2 clients are disabled by a limit or end soon/);
  t.regex(report, /&lt;i&gt;over/);
  t.regex(report, /soon/);
  t.notRegex(report, /later|nearly/);
  t.deepEqual(
    server.files.map(({ chat }) => chat),
    [ADMIN_ID, -5],
    'one who has blocked the bot does not matter',
  );
  t.is(String(server.files[0]?.bytes), 'SQLite format 3');
  t.regex(server.files[0]?.caption ?? '', /weir_2026-11-23_040000\.db, 15 B, not encrypted/);
  t.deepEqual(
    asked.map(({ kind, name }) => [kind, name]),
    [['plugin', 'msg-bot']],
  );
  t.false(isOpen(), 'the file is closed');
  await pass(30);
  // Warnings of limits come to the same chat.
  const reports = () => server.texts(ADMIN_ID).filter((text) => text.includes('<b>Report</b>')).length;
  t.is(reports(), 1, 'not again before its time');
  clock.jump(-30 * DAY);
  await pass(1);
  await pass(60);
  // A minute in which the job is still at work is passed by the next one.
  for (let minutes = 0; minutes < 30 && reports() < 2; minutes++) await pass(1);
  t.is(reports(), 2, 'a clock that was set back holds nothing');
});

test.serial('an admin gets a backup, and the record knows who asked', async (t) => {
  const { plugin, asked } = await backupsOf(t);
  await using world = await bootBot(t, {}, { plugins: [plugin], without: ['backup-s3'] });
  await connected(world);
  await world.say(ADMIN_ID, '/start');
  await world.press(ADMIN_ID, 'backup');
  await world.until(() => world.server.files.length === 1, 'the file');
  t.like(asked[0], { kind: 'chat', name: `msg-bot ${ADMIN_ID}` });
  const answer = await world.panel.call('/panel/api/backuptotgbot', { body: {} });
  t.regex(answer.body.msg, /sent to 1 chats/);
  t.like(asked[1], { kind: 'session', name: 'admin' });
});

test.serial('a backup that is too large or fails is said, and no file is read', async (t) => {
  const tooLarge: BackupsApi['make'] = async () => ({
    name: 'weir.db',
    bytes: 50_000_001,
    isEncrypted: true,
    open: async () => {
      throw new Error('it must not be opened');
    },
  });
  const { plugin } = await backupsOf(t, tooLarge);
  await using world = await bootBot(t, {}, { plugins: [plugin], without: ['backup-s3'] });
  await connected(world);
  await world.say(ADMIN_ID, '/start');
  await world.press(ADMIN_ID, 'backup');
  await world.until(() => /a chat takes at most/.test(world.server.last(ADMIN_ID)?.text ?? ''), 'the reason');
  const answer = await world.panel.call('/panel/api/backuptotgbot', { body: {} });
  t.like(answer, { status: 502 });
  await world.set({ msgBotEnable: false });
  t.is((await world.panel.call('/panel/api/backuptotgbot', { body: {} })).status, 409);
});

test.serial('a report on its way does not delay the stop of the panel', async (t) => {
  const clock = new FakeClock(Date.UTC(2026, 0, 15, 12));
  const dataDirectory = await folderFor(t);
  const world = await bootBot(t, { msgBotRunTime: '@every 1m' }, { clock, dataDirectory });
  await connected(world);
  world.server.fault = ({ method }) => method === 'sendMessage';
  for (let n = 0; n < 3 && world.server.count('sendMessage') === 0; n++) {
    clock.tick(60_000);
    await sleep(500);
  }
  t.is(world.server.count('sendMessage'), 1, 'it is on its way');
  const began = Date.now();
  await world.panel.stop();
  t.true(Date.now() - began < 4_000, `${Date.now() - began} ms`);
});

test('without the plugin of backups, the button says so', async (t) => {
  await using world = await bootBot(
    t,
    {},
    {
      without: [
        'backup',
        'backup-s3',
        'devices',
        'subscription',
        'sub-links',
        'sub-json',
        'sub-alt',
        'sub-sing-box',
        'sub-page',
        'sub-balancers',
        'app-link',
        'hosts',
        'external-links',
        'quickstart',
        'server-status',
        'remote-texts',
        'alarms',
        'metrics',
        'realtime',
        'notifications',
        'audit',
      ],
      partial: true,
    },
  );
  await connected(world);
  await world.say(ADMIN_ID, '/start');
  await world.press(ADMIN_ID, 'backup');
  await world.until(
    () => /plugin backup does not run/.test(world.server.last(ADMIN_ID)?.text ?? ''),
    'the reason',
  );
  await world.say(ADMIN_ID, '/start');
  await world.press(ADMIN_ID, 'server');
  t.regex(world.server.last(ADMIN_ID)?.text ?? '', /plugin server-status does not run/);
});

test('times of the report', (t) => {
  const at = Date.UTC(2026, 0, 15, 12, 30);
  const next = (runTime: string) => new Date(nextRun(runTime, at, 'UTC')).toISOString();
  t.is(next('@daily'), '2026-01-16T00:00:00.000Z');
  t.is(next('@hourly'), '2026-01-15T13:00:00.000Z');
  t.is(next('@every 8h'), '2026-01-15T20:30:00.000Z');
  t.is(next('@every 1d12h30m'), '2026-01-17T01:00:00.000Z');
  t.is(next('30 4 * * *'), '2026-01-16T04:30:00.000Z');
  t.is(next('15 30 4 * * *'), '2026-01-16T04:30:15.000Z');
  t.is(new Date(nextRun('0 4 * * *', at, 'Asia/Tehran')).toISOString(), '2026-01-16T00:30:00.000Z');
  for (const valid of ['@daily', '@every 90m', '*/5 * * * *', '0 0 0 * * 1'])
    t.is(runTimeProblem(valid), undefined, valid);
  for (const wrong of [
    'daily',
    '@never',
    '@every',
    '@every 8',
    '@every 30s',
    '@every 9000d',
    '* * *',
    '61 * * * *',
    '0 0 30 2 *',
    'a b c d e',
    '@reboot',
    '* * * * * * *',
  ])
    t.truthy(runTimeProblem(wrong), wrong);
});

// Runs on every database.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { contribute, definePlugin, payload, route, shape, text, setting } from '../../../kernel/index.js';
import { dropDatabase } from '../../../test/harness/database.js';
import { editDatabase } from '../../../test/harness/edit-database.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { rowsOf } from '../../secrets/test/vault.js';
import { SettingGroups, Settings } from '../contract.js';

const group = {
  botToken: setting(text(), '', 'token of a bot', { secret: true }),
  mailPassword: setting(text(), '', 'password of a mail server', { secret: true }),
  made: setting(text(), () => 'generated', 'a secret that a fresh panel generates', { secret: true }),
  botName: setting(text(), '', 'name of a bot'),
} as const;
const bot = definePlugin({
  name: 'bot',
  version: '1.0.0',
  api: 1,
  about: 'For a test.',
  uses: { settings: Settings },
  contributes: () => [contribute(SettingGroups, { group })],
  routes: ({ settings }) => [
    route({
      method: 'GET',
      path: '/panel/api/bot',
      doc: 'What it reads.',
      reply: payload(shape({ botToken: text(), mailPassword: text(), made: text(), botName: text() })),
      handle: () => settings.read(group),
    }),
  ],
});

async function world(t: ExecutionContext) {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(async () => {
    await dropDatabase(dataDirectory);
    await rm(dataDirectory, { recursive: true, force: true });
  });
  const stored = async (): Promise<Record<string, string>> =>
    Object.fromEntries(
      (
        await rowsOf<{ name: string; value: string }>(
          dataDirectory,
          `SELECT name, value FROM settings WHERE name IN ('${Object.keys(group).join("', '")}')`,
        )
      ).map(({ name, value }) => [name, value]),
    );
  return {
    dataDirectory,
    stored,
    boot: () => TestPanel.boot({ plugins: [new FakeEngine().plugin, bot], dataDirectory }),
  };
}
const read = (panel: TestPanel) => panel.get<Record<string, string>>('/panel/api/bot');
const update = (panel: TestPanel, body: object) => panel.get('/panel/api/setting/update', { body });
const FORM = /^weir1:[0-9a-f]{16}:/;

test('encrypts secret settings in the database, generated ones too, and no others', async (t) => {
  const { boot, stored } = await world(t);
  let panel = await boot();
  await update(panel, { botToken: 'hush', botName: 'ada' });
  const rows = await stored();
  t.regex(rows['botToken'] ?? '', FORM);
  t.regex(rows['made'] ?? '', FORM);
  t.is(rows['botName'], '"ada"');
  await panel.stop();
  panel = await boot();
  t.like(await read(panel), { botToken: 'hush', made: 'generated', botName: 'ada' });
  await panel.stop();
  t.deepEqual(await stored(), rows, 'a start writes nothing again');
});

test('what a panel from before wrote in the clear is encrypted at the first start', async (t) => {
  const { boot, stored, dataDirectory } = await world(t);
  let panel = await boot();
  await update(panel, { botToken: 'x', botName: 'ada' });
  await panel.stop();
  await editDatabase(dataDirectory, [
    `UPDATE settings SET value = '"clear token"' WHERE name = 'botToken'`,
    `UPDATE settings SET value = '"clear made"' WHERE name = 'made'`,
  ]);
  panel = await boot();
  t.like(await read(panel), { botToken: 'clear token', made: 'clear made' });
  const rows = await stored();
  t.regex(rows['botToken'] ?? '', FORM);
  t.regex(rows['made'] ?? '', FORM);
  await panel.stop();
  panel = await boot();
  t.like(await read(panel), { botToken: 'clear token', made: 'clear made' });
  await panel.stop();
});

test('a value that was moved or changed in the database is not used, and the log says which', async (t) => {
  const { boot, stored, dataDirectory } = await world(t);
  let panel = await boot();
  await update(panel, { botToken: 'of the bot', mailPassword: 'of the mail' });
  const rows = await stored();
  await panel.stop();
  await editDatabase(dataDirectory, [
    `UPDATE settings SET value = '${rows['botToken']}' WHERE name = 'mailPassword'`,
    `UPDATE settings SET value = '${rows['botToken']?.slice(0, -3)}' WHERE name = 'botToken'`,
  ]);
  panel = await boot();
  t.like(await read(panel), { botToken: '', mailPassword: '' });
  for (const name of ['botToken', 'mailPassword'])
    t.true(
      panel.log.some(
        (line) =>
          line.includes('is not valid any more') && line.includes(`settings.value of ${name} was changed`),
      ),
      name,
    );
  t.false(panel.log.some((line) => line.includes('of the bot') || line.includes(rows['botToken'] ?? '?')));
  await panel.stop();
});

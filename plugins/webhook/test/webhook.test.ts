import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { hostname } from 'node:os';
import test from 'ava';
import nock from 'nock';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { until } from '../../../test/harness/until.js';
import { randomBytes } from 'node:crypto';

const TOKEN = `MTA${'x'.repeat(60)}`;
const CHANNEL = '123456789012345678';
const ORIGIN = 'https://discord.com';
const PATH = `/api/v10/channels/${CHANNEL}/messages`;
const at = Date.UTC(2026, 0, 15, 12);

interface Posted {
  readonly embeds: readonly {
    readonly title: string;
    readonly description?: string;
    readonly color: number;
    readonly timestamp: string;
    readonly footer?: { readonly text: string };
    readonly fields?: readonly { readonly name: string; readonly value: string }[];
  }[];
  readonly allowed_mentions: unknown;
}

test.before(() => {
  nock.disableNetConnect();
  nock.enableNetConnect('127.0.0.1');
});
test.afterEach.always(() => nock.cleanAll());
test.after.always(() => nock.restore());

async function boot(settings: object = {}) {
  const clock = new FakeClock(at);
  const engine = new FakeEngine();
  const panel = await TestPanel.boot({ plugins: [engine.plugin], clock });
  await panel.get('/panel/api/setting/update', {
    body: { webhookEnable: true, webhookToken: `Bot ${TOKEN}`, webhookChannelId: CHANNEL, ...settings },
  });
  const sendTest = (body: object = {}) =>
    panel
      .call<unknown>('/panel/api/setting/testWebhook', { body })
      .then(({ text }) => JSON.parse(text) as unknown);
  return { panel, clock, engine, sendTest, [Symbol.asyncDispose]: () => panel[Symbol.asyncDispose]() };
}

/** The job has seen the settings. */
async function looked(clock: FakeClock): Promise<void> {
  clock.tick(10_000);
  await new Promise((resolve) => setTimeout(resolve, 100));
}

const accepted = (posted: Posted[], headers: Record<string, string>[] = []) =>
  nock(ORIGIN)
    .post(PATH)
    .reply(function (_, body) {
      posted.push(body as Posted);
      headers.push(this.req.headers as never);
      return [200, { id: '1' }];
    });

test.serial('a test message is sent with the token of the bot', async (t) => {
  await using world = await boot();
  const posted: Posted[] = [];
  const headers: Record<string, string>[] = [];
  accepted(posted, headers);
  t.deepEqual(await world.sendTest(), { success: true, msg: 'the test message was sent' });
  t.is(String(headers[0]?.['authorization']), `Bot ${TOKEN}`);
  t.regex(String(headers[0]?.['user-agent']), /^DiscordBot \(https:/);
  const [embed] = posted[0]?.embeds ?? [];
  t.is(embed?.color, 0x2ecc71);
  t.is(embed?.timestamp, new Date(at).toISOString());
  t.is(embed?.fields?.[0]?.value.replaceAll('\\', ''), hostname());
  t.deepEqual(posted[0]?.allowed_mentions, { parse: [] });
});

test.serial('a test takes a token and a channel that are not saved', async (t) => {
  await using world = await boot({ webhookEnable: false });
  const other = `NTB${'y'.repeat(60)}`;
  const scope = nock(ORIGIN, { reqheaders: { authorization: `Bot ${other}` } })
    .post('/api/v10/channels/99999999/messages')
    .reply(200, {});
  t.like(await world.sendTest({ webhookToken: other, webhookChannelId: '99999999' }), { success: true });
  t.true(scope.isDone());
});

const FAILURES: readonly [number, string | object, RegExp][] = [
  [400, { message: 'Invalid Form Body' }, /refuses the message \(400\): Invalid Form Body/],
  [401, { message: '401: Unauthorized' }, /does not accept the token \(401\)/],
  [403, { message: 'Missing Permissions' }, /may not write to this channel \(403\): Missing Permissions/],
  [404, { message: 'Unknown Channel' }, /no channel with this id \(404\)/],
  [413, '', /larger than the chat takes/],
  [429, { retry_after: 1.5 }, /fewer messages \(429\); the next one may be sent in 1500 ms/],
  [502, '<html>bad\ngateway</html>', /answered \(502\): <html>bad gateway/],
  [302, '', /redirects/],
];
test.serial('failures of the chat are sentences, and none has the token', async (t) => {
  await using world = await boot();
  for (const [status, body, sentence] of FAILURES) {
    nock(ORIGIN)
      .post(PATH)
      .reply(status, body, status === 302 ? { location: 'https://evil.example/' } : {});
    const { success, msg } = (await world.sendTest()) as { success: boolean; msg: string };
    t.false(success);
    t.regex(msg, sentence);
    t.false(msg.includes(TOKEN));
  }
  nock(ORIGIN).post(PATH).replyWithError('socket hang up');
  t.like(await world.sendTest(), { success: false });
  nock(ORIGIN).post(PATH).reply(500, 'x'.repeat(200_000));
  t.like(await world.sendTest(), { success: false });
  t.false(world.panel.log.join().includes(TOKEN));
});

test.serial('without a token nothing is called', async (t) => {
  await using world = await boot({ clearWebhookToken: true, webhookToken: '' });
  t.deepEqual(await world.sendTest(), {
    success: false,
    msg: 'the settings webhookToken and webhookChannelId are needed',
  });
});

test.serial('settings that cannot be are refused by their name, and the token is not shown', async (t) => {
  await using world = await boot();
  const { panel } = world;
  for (const [name, value] of Object.entries({
    webhookToken: 'no spaces here',
    webhookChannelId: '../../users/@me',
    webhookRunTime: '@never',
    webhookCpu: 101,
    webhookAdminIds: 'me',
    webhookEnabledEvents: 'a,'.repeat(200),
  })) {
    const { status, text } = await panel.call('/panel/api/setting/update', { body: { [name]: value } });
    t.is(status, 400, text);
    t.true(text.includes(name), text);
  }
  const all = await panel.get<Record<string, unknown>>('/panel/api/setting/all', { method: 'POST' });
  t.deepEqual([all['webhookToken'], all['hasWebhookToken'], all['webhookChannelId']], ['', true, CHANNEL]);
});

test.serial('a notification is an embed whose names are shown as they are', async (t) => {
  await using world = await boot();
  const { panel, engine, clock } = world;
  const posted: Posted[] = [];
  accepted(posted);
  const inbound = await panel.addInbound();
  const ann = await panel.addClient('ann_*b*@example.com', [inbound], { totalGB: 100 });
  await panel.get('/panel/api/setting/update', { body: { webhookEnabledEvents: 'clientDepleted' } });
  engine.move(inbound, ann.id, 0, 200);
  clock.tick(5_000);
  await until(() => posted.length === 1, 'it is sent');
  const [embed] = posted[0]?.embeds ?? [];
  t.true(embed?.description?.includes('ann\\_\\*b\\*\\@example.com'), embed?.description);
  t.is(embed?.color, 0xf39c12);
  t.is(embed?.footer?.text, hostname());
});

test.serial('the report comes at its time, once, with a backup', async (t) => {
  await using world = await boot({ webhookRunTime: '@every 1h', webhookBackup: true, webhookLang: 'ru-RU' });
  const { panel, clock } = world;
  const inbound = await panel.addInbound();
  await panel.addClient('ann', [inbound]);
  await panel.addClient('bob', [inbound], { enable: false });
  await panel.addClient('eve', [inbound], { expiryTime: clock.now() - 1_000 });
  const posted: Posted[] = [];
  const forms: Buffer[] = [];
  accepted(posted);
  nock(ORIGIN)
    .post(PATH)
    .reply((_, body) => {
      forms.push(Buffer.from(body as string, /^[0-9a-f]+$/i.test(body as string) ? 'hex' : 'latin1'));
      return [429, { retry_after: 20 }];
    });
  nock(ORIGIN)
    .post(PATH)
    .reply((_, body) => {
      forms.push(Buffer.from(body as string, /^[0-9a-f]+$/i.test(body as string) ? 'hex' : 'latin1'));
      return [200, {}];
    });
  await looked(clock);
  clock.tick(3_500_000);
  t.is(posted.length, 0);
  clock.tick(200_000);
  await until(() => forms.length === 1, 'the report and the file are sent');
  for (let i = 0; i < 100 && forms.length < 2; i++) {
    clock.tick(5_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  t.is(forms.length, 2, 'the file is sent again');
  t.is(posted.length, 1, 'the report is not');
  const [embed] = posted[0]?.embeds ?? [];
  t.true(embed?.title.startsWith('Отчёт'));
  const clients = embed?.fields?.find(({ name }) => name === 'Клиенты')?.value;
  t.regex(clients ?? '', /^всего\\: 3\nдостигли лимита\\: 1\nотключено\\: 1$/);
  t.deepEqual(await readdir(join(panel.dataDirectory, 'snapshots')), [], 'no copy stays');
  const form = forms[1] ?? Buffer.alloc(0);
  const text = form.toString('latin1');
  t.regex(text, /name="payload_json"/);
  const name = /name="files\[0\]"; filename="(weir_\d{8}_\d{6}\.db\.gz)"/.exec(text)?.[1];
  t.truthy(name);
  const start = form.indexOf(Buffer.from([0x1f, 0x8b]));
  const file = gunzipSync(form.subarray(start, form.lastIndexOf('\r\n--')));
  t.is(file.subarray(0, 15).toString(), 'SQLite format 3');
});

test.serial('a backup that is too large is said, and not sent', async (t) => {
  await using world = await boot({ webhookRunTime: '@every 1h', webhookBackup: true });
  const { panel, clock } = world;
  const inbound = await panel.addInbound();
  for (let part = 0; part < 3; part++) {
    const clients = Array.from({ length: 2_000 }, (_, i) => ({
      client: { email: `c${part}-${i}`, comment: randomBytes(3_000).toString('base64') },
      inboundIds: [inbound],
    }));
    await panel.get('/panel/api/clients/bulkCreate', { body: clients });
  }
  const posted: Posted[] = [];
  accepted(posted);
  accepted(posted);
  await looked(clock);
  clock.tick(3_700_000);
  await until(() => posted.length === 2, 'both are sent');
  t.regex(posted[1]?.embeds[0]?.description ?? '', /too large/);
});

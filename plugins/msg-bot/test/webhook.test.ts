// Updates that the Bot API delivers itself.
import test from 'ava';
import { messageOf, TOKEN } from './bot-server.js';
import { ADMIN_ID, bootBot, connected } from './bot-world.js';

const BASE = 'https://panel.example.com:8443/base';
const HEADER = 'x-telegram-bot-api-secret-token';

test.serial('with a webhook, updates are taken with both secrets only, each once', async (t) => {
  await using world = await bootBot(t, { msgBotWebhook: `${BASE}/` });
  await connected(world);
  const { server, panel } = world;
  const { url, secret } = server.webhook;
  t.true(url.startsWith(`${BASE}/panel/api/x/msg-bot/webhook/`));
  t.regex(secret, /^[A-Za-z0-9_-]{43}$/, 'what the Bot API takes as a secret');
  t.false(url.includes(secret) || url.includes(TOKEN));
  t.is(server.count('getUpdates'), 0);
  const path = url.slice(BASE.length);
  const deliver = (body: unknown, headers: Record<string, string> = { [HEADER]: secret }, at = path) =>
    panel.call(at, {
      rawBody: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
      anonymous: true,
    });

  t.is((await deliver({ update_id: 5, ...messageOf(ADMIN_ID, '/status') })).status, 200);
  await world.until(() => server.texts(ADMIN_ID).length === 1, 'it is answered');
  t.is((await deliver({ update_id: 5, ...messageOf(ADMIN_ID, '/status') })).status, 200, 'delivered again');
  t.is((await deliver({ update_id: 4, ...messageOf(ADMIN_ID, '/status') })).status, 200, 'an older one');
  t.is((await deliver({ update_id: 6, ...messageOf(ADMIN_ID, '/id') })).status, 200);
  await world.until(() => server.texts(ADMIN_ID).some((text) => text.includes('11')), 'the next is answered');
  t.is(server.texts(ADMIN_ID).length, 2);

  const update = { update_id: 9, ...messageOf(ADMIN_ID, '/id') };
  const wrongPath = `${path.slice(0, -1)}${path.endsWith('A') ? 'B' : 'A'}`;
  for (const [headers, at] of [
    [{}, path],
    [{ [HEADER]: '' }, path],
    [{ [HEADER]: `${secret}x` }, path],
    [{ [HEADER]: secret.toLowerCase() }, path],
    [{ [HEADER]: secret }, wrongPath],
    [{ [HEADER]: secret }, '/panel/api/x/msg-bot/webhook/-'],
    [{ [HEADER]: '-' }, '/panel/api/x/msg-bot/webhook/-'],
    [{ [HEADER]: secret }, `${path}/more`],
  ] as const)
    t.is((await deliver(update, headers, at)).status, 404, JSON.stringify([headers, at]));

  // What cannot be read is accepted, or it would be delivered for ever.
  for (const body of ['', '{', '[]', 'null', '{"update_id":"x"}', '{"update_id":7,"message":5}'])
    t.is((await deliver(body)).status, 200, body);
  t.is((await deliver('x'.repeat(300_000))).status, 413);
  // A long message, in which each character is escaped.
  const long = JSON.stringify({ update_id: 20, ...messageOf(ADMIN_ID, 'x') }).replace(
    '"x"',
    `"${'\\u0633'.repeat(4_096)}"`,
  );
  t.true(long.length > 24_000);
  t.is((await deliver(long)).status, 200);
  await world.until(
    () => server.texts(ADMIN_ID).some((text) => /no open question/.test(text)),
    'it is answered',
  );
  t.deepEqual(panel.faults, []);

  // Fetching again: the webhook is deleted, and its secrets open nothing any more.
  await world.set({ msgBotWebhook: '' });
  await connected(world);
  t.is(server.webhook.url, '');
  t.is((await deliver({ update_id: 30, ...messageOf(ADMIN_ID, '/status') })).status, 404);
  t.regex(await world.say(ADMIN_ID, '/status'), /works/);
});

test.serial('another token has other secrets', async (t) => {
  await using world = await bootBot(t, { msgBotWebhook: BASE });
  await connected(world);
  const { server } = world;
  const first = { ...server.webhook };
  const other = `987654321:${'B'.repeat(35)}`;
  server.tokens.add(other);
  await world.set({ msgBotToken: other });
  await world.until(() => server.webhook.secret !== first.secret, 'the webhook is set again');
  t.not(server.webhook.url, first.url);
});

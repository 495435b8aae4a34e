// Notifications over the bot, and the test of an admin.
import test from 'ava';
import { BotChannel } from '../channel.js';
import { BotFailure } from '../api/failure.js';
import { entityLength } from './entities.js';
import { ADMIN_ID, bootBot, type BotWorld, connected } from './bot-world.js';

const OTHER = 12;
const signal = new AbortController().signal;
const notification = {
  id: 'n1',
  event: 'clientDepleted',
  severity: 'critical',
  at: 1,
  text: 'a <b> & c',
  data: {},
};
type Tested = { success: boolean; msg: string };
const testOf = async (world: BotWorld): Promise<Tested> =>
  JSON.parse((await world.panel.call('/panel/api/setting/testMsgBot', { body: {} })).text) as Tested;

test('testMsgBot says what is missing, and sends to every admin', async (t) => {
  await using world = await bootBot(t, { msgBotChatId: `${ADMIN_ID}, ${OTHER}` });
  await connected(world);
  const { server } = world;
  server.chats.add(OTHER);
  const answer = await testOf(world);
  t.deepEqual(answer, { success: true, msg: 'the test message was sent' }, 'no other keys');
  t.is(server.texts(ADMIN_ID).length + server.texts(OTHER).length, 2);
  server.blocked.add(OTHER);
  t.like(await testOf(world), { success: false });
  t.regex((await testOf(world)).msg, /chat 12: .*cannot write to this chat.*blocked by the user/);
  await world.set({ msgBotChatId: `${OTHER}, ${ADMIN_ID}, 13` });
  const before = server.texts(ADMIN_ID).length;
  t.regex((await testOf(world)).msg, /chat 12: .*blocked by the user.*; chat 13: .*chat not found/);
  t.is(server.texts(ADMIN_ID).length, before + 1, 'the others have it all the same');
  await world.set({ msgBotChatId: '' });
  t.regex((await testOf(world)).msg, /msgBotChatId/);
  await world.set({ msgBotEnable: false });
  t.regex((await testOf(world)).msg, /disabled/);
  await world.set({ msgBotEnable: true, clearMsgBotToken: true });
  t.regex((await testOf(world)).msg, /msgBotToken/);
});

test('an event reaches the chats of all admins', async (t) => {
  await using world = await bootBot(t, {
    msgBotChatId: `${ADMIN_ID}`,
    msgBotEnabledEvents: 'clientDepleted',
  });
  await connected(world);
  const results = await world.panel.get<{ channel: string; delivered: boolean }[]>(
    '/panel/api/notifications/test',
    { body: {} },
  );
  t.like(
    results.find(({ channel }) => channel === 'msgBot'),
    { delivered: true },
  );
  t.regex(world.server.last(ADMIN_ID)?.text ?? '', /test/);
});

interface Stub {
  readonly channel: BotChannel;
  readonly sent: [number, string][];
  fail: (chat: number) => BotFailure | undefined;
}
function stubOf(settings: Record<string, unknown> = {}): Stub {
  const sent: [number, string][] = [];
  const api = {
    send: async (chat: number, html: string) => {
      const failure = stub.fail(chat);
      if (failure) throw failure;
      sent.push([chat, html]);
    },
  };
  const values = {
    msgBotEnable: true,
    msgBotToken: 'x',
    msgBotChatId: '1,2,3',
    msgBotLang: 'fa-IR',
    msgBotEnabledEvents: 'a, b,,a',
    ...settings,
  };
  const channel = new BotChannel({
    bot: { session: { api, signal } } as never,
    settings: { read: () => values } as never,
    log: { warn: () => undefined } as never,
  });
  const stub: Stub = { channel, sent, fail: () => undefined };
  return stub;
}

test('an admin who has blocked the bot does not make others get a message twice', async (t) => {
  const stub = stubOf();
  stub.fail = (chat) => (chat === 2 ? new BotFailure('chat', 'blocked') : undefined);
  await stub.channel.send(notification as never, signal);
  t.deepEqual(
    stub.sent.map(([chat]) => chat),
    [1, 3],
  );

  stub.fail = (chat) => (chat === 2 ? new BotFailure('rate', 'slow', 7_000) : undefined);
  const error = await t.throwsAsync<BotFailure>(
    stub.channel.send({ ...notification, id: 'n2' } as never, signal),
  );
  t.like(error, { retryAfterMs: 7_000, isPermanent: false });
  stub.fail = () => undefined;
  await stub.channel.send({ ...notification, id: 'n2' } as never, signal);
  t.deepEqual(
    stub.sent.slice(2).map(([chat]) => chat),
    [1, 2, 3],
    'each once',
  );

  stub.fail = () => new BotFailure('chat', 'gone');
  t.true(
    (await t.throwsAsync<BotFailure>(stub.channel.send({ ...notification, id: 'n3' } as never, signal)))
      ?.isPermanent,
  );
});

test('a notification that no chat has got in several attempts has failed', async (t) => {
  const stub = stubOf();
  stub.fail = (chat) => new BotFailure(chat === 3 ? 'network' : 'chat', 'no');
  const send = () => t.throwsAsync<BotFailure>(stub.channel.send(notification as never, signal));
  t.false((await send())?.isPermanent);
  stub.fail = () => new BotFailure('chat', 'blocked');
  t.true((await send())?.isPermanent);
  t.deepEqual(stub.sent, []);
});

test('without a chat of an admin the bot still reaches clients, and no event is queued for admins', async (t) => {
  const stub = stubOf({ msgBotChatId: '' });
  t.true(stub.channel.isOn());
  t.deepEqual(stub.channel.events(), []);
  await stub.channel.sendToClient(notification as never, { id: 1, email: 'ada', messengerId: 99 }, signal);
  t.deepEqual(stub.sent, [[99, '🔴 a &lt;b&gt; &amp; c']]);
  const error = await t.throwsAsync<BotFailure>(stub.channel.send(notification as never, signal), {
    message: /no admins \(msgBotChatId\)/,
  });
  t.true(error?.isPermanent);
  t.false(stubOf({ msgBotToken: '' }).channel.isOn());
});

test('texts of notifications are escaped, and long ones are sent in parts', async (t) => {
  const stub = stubOf({ msgBotChatId: '1' });
  await stub.channel.send(notification as never, signal);
  t.is(stub.sent[0]?.[1], '🔴 a &lt;b&gt; &amp; c');
  await stub.channel.send({ ...notification, id: 'n4', text: '<&> '.repeat(4_096) } as never, signal);
  t.true(stub.sent.length > 3);
  for (const [, html] of stub.sent) t.true((entityLength(html) as number) <= 4_096);
  await stub.channel.sendToClient(
    { ...notification, title: 'Quota <b>' } as never,
    { id: 1, email: 'ada', messengerId: 99 },
    signal,
  );
  t.deepEqual(stub.sent.at(-1), [99, '🔴 <b>Quota &lt;b&gt;</b>\na &lt;b&gt; &amp; c']);
  t.is(stub.channel.language(), 'fa');
  t.deepEqual(stub.channel.events(), ['a', 'b']);
});

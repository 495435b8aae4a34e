// The settings of the bot: what is taken, what is shown, and the proxy.
import { createServer, connect } from 'node:net';
import test from 'ava';
import { ChatLimiter } from '../chat/limiter.js';
import { secretsOf } from '../life/webhook.js';
import { TOKEN } from './bot-server.js';
import { ADMIN_ID, bootBot, connected } from './bot-world.js';

const REFUSED: readonly (readonly [string, unknown])[] = [
  ['msgBotToken', 'not a token'],
  ['msgBotToken', `${TOKEN}\n`.repeat(20)],
  ['msgBotProxy', 'ftp://proxy.example.com'],
  ['msgBotProxy', 'socks5://proxy.example.com/path'],
  ['msgBotApiServer', 'file:///etc/passwd'],
  ['msgBotApiServer', 'https://user:secret@api.example.com'],
  ['msgBotApiServer', 'https://api.example.com/?x=1'],
  ['msgBotChatId', '11, ada'],
  ['msgBotChatId', '1.5'],
  ['msgBotChatId', '0'],
  ['msgBotChatId', '99999999999999999999'],
  ['msgBotChatId', Array.from({ length: 101 }, (_, n) => n + 1).join(',')],
  ['msgBotRunTime', 'every day'],
  ['msgBotRunTime', '@every 1s'],
  ['msgBotLang', 'not a language'],
  ['msgBotEnabledEvents', '<b>'],
  ['msgBotEnabledEvents', 'a,'.repeat(200)],
  ['msgBotWebhook', 'http://panel.example.com'],
  ['msgBotWebhook', 'panel.example.com'],
];

test('invalid settings are refused by their names, and change nothing; secrets are never shown', async (t) => {
  await using world = await bootBot(t, { msgBotProxy: '' });
  await connected(world);
  const all = () => world.panel.get<Record<string, unknown>>('/panel/api/setting/all', { method: 'POST' });
  const before = await all();
  t.is(before['msgBotToken'], '');
  t.true(before['hasMsgBotToken']);
  t.false(JSON.stringify(before).includes(TOKEN));
  for (const [name, value] of REFUSED) {
    const answer = await world.panel.call('/panel/api/setting/update', { body: { [name]: value } });
    t.is(answer.status, 400, `${name}: ${String(value).slice(0, 60)}`);
    t.true(answer.body.msg.includes(name), answer.body.msg);
    t.false(answer.text.includes('secret@'), 'a password is not repeated');
  }
  t.deepEqual(await all(), before);
  t.is((await world.status()).state, 'running');
  const connects = world.server.count('getMe');
  await world.set({ msgBotChatId: ` ${ADMIN_ID} ,12,, `, msgBotRunTime: '', msgBotEnabledEvents: '' });
  t.is(world.server.count('getMe'), connects, 'the bot does not connect again for these');
});

test('calls of the bot go through its proxy, to the server of the setting only', async (t) => {
  const targets: string[] = [];
  const proxy = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (head) => {
      const target = /^CONNECT ([^ ]+) /.exec(head.toString('latin1'))?.[1] ?? '';
      targets.push(`${target} ${/Basic \S+/.exec(head.toString('latin1'))?.[0] ?? ''}`);
      const [host = '', port = ''] = target.split(':');
      const onward = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(onward).pipe(socket);
      });
      onward.on('error', () => socket.destroy());
    });
  });
  await new Promise<void>((done) => void proxy.listen(0, '127.0.0.1', done));
  t.teardown(() => proxy.close());
  const { port } = proxy.address() as { port: number };
  await using world = await bootBot(t, { msgBotProxy: `http://ada:word@127.0.0.1:${port}` });
  await connected(world);
  t.regex(await world.say(ADMIN_ID, '/status'), /works/);
  const host = new URL(world.server.url).host;
  const login = `Basic ${Buffer.from('ada:word').toString('base64')}`;
  t.true(targets.length >= 3);
  t.deepEqual([...new Set(targets)], [`${host} ${login}`]);
  t.false(world.panel.log.join('\n').includes('ada:word'));
  const through = targets.length;
  await world.set({ clearMsgBotProxy: true });
  await connected(world);
  t.regex(await world.say(ADMIN_ID, '/status'), /works/);
  t.is(targets.length, through, 'and no more without it');
});

test('secrets of a webhook differ from each other, follow from the token, and fit what the Bot API takes', (t) => {
  const [one, again, other] = [secretsOf('1:a'), secretsOf('1:a'), secretsOf('1:b')];
  t.deepEqual(one, again);
  t.is(new Set([one.path, one.header, other.path, other.header]).size, 4);
  for (const secret of [one.path, one.header]) t.regex(secret, /^[A-Za-z0-9_-]{43}$/);
});

test('each chat has its own limit, strangers share one, and memory is bounded', (t) => {
  const limiter = new ChatLimiter();
  let now = 1_000_000;
  const many = (user: number, isStranger: boolean, count: number) =>
    Array.from({ length: count }, () => limiter.judge(user, isStranger, now)).filter(
      (one) => one === 'answer',
    ).length;
  t.is(many(1, false, 100), 30);
  t.is(limiter.judge(1, false, now), 'ignore', 'the warning was given once');
  t.is(many(2, false, 10), 10);
  t.is(many(3, true, 100), 3);
  t.is(many(3, false, 5), 5, 'who becomes a client is no stranger');
  now += 5_000;
  t.is(many(1, false, 100), 5);
  now -= 60_000;
  t.is(many(1, false, 100), 0, 'a clock that was set back gives nothing');
  now += 3_600_000;
  t.is(many(1, false, 100), 30);
  let answers = 0;
  for (let user = 100; user < 20_100; user++) answers += many(user, true, 1);
  t.true(answers <= 20);
  now += 3_600_000;
  limiter.tidy(now);
  t.is(many(3, true, 10), 3);
});

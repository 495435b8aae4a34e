// What users see of their own clients, and that strangers see nothing.
import test from 'ava';
import jsQr from 'jsqr';
import { inflateSync } from 'node:zlib';
import { messageOf } from './bot-server.js';
import { ADMIN_ID, bootBot, connected, STRANGER_ID } from './bot-world.js';

const ADA = 777;
const BOB = 888;

/** The grey pixels of a PNG with one bit each, as RGBA. */
function pixelsOf(png: Buffer): { data: Uint8ClampedArray; side: number } {
  const side = png.readUInt32BE(16);
  const length = png.readUInt32BE(33);
  const rows = inflateSync(png.subarray(41, 41 + length));
  const data = new Uint8ClampedArray(side * side * 4);
  const bytes = side / 8 + 1;
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++) {
      const bit = ((rows[y * bytes + 1 + (x >> 3)] ?? 0) >> (7 - (x & 7))) & 1;
      data.set([bit * 255, bit * 255, bit * 255, 255], (y * side + x) * 4);
    }
  return { data, side };
}

test('a user sees usage, links, QR codes and subscription of their own client, and of no other', async (t) => {
  await using world = await bootBot(t);
  await connected(world);
  const { server, panel } = world;
  for (const id of [ADA, BOB]) server.chats.add(id);
  const inbound = await panel.addInbound({ remark: 'home' });
  const ada = await panel.addClient('ada', [inbound], {
    tgId: ADA,
    totalGB: 1024 ** 3,
    comment: 'a secret of the admin',
  });
  const bob = await panel.addClient('bob', [inbound], { tgId: BOB });

  t.regex(await world.say(ADA, '/start'), /1 account belongs/);
  t.deepEqual(server.last(ADA)?.buttons, [{ text: 'ada', data: `client:${ada.id}` }]);
  t.regex(await world.press(ADA, `client:${ada.id}`), /<b>ada<\/b>/);
  t.false(server.texts(ADA).some((text) => text.includes('secret')));
  t.deepEqual(
    server.last(ADA)?.buttons.map(({ data }) => data.split(':')[0]),
    ['client', 'links', 'qr', 'sub', 'menu'],
  );
  t.regex(await world.say(ADA, '/usage'), /<b>ada<\/b>/);
  t.regex(await world.say(ADA, '/usage ada'), /<b>ada<\/b>/);
  t.regex(await world.say(ADA, '/usage bob'), /no such client/);
  t.regex(await world.say(ADA, '/usage nobody'), /no such client/, 'the same sentence');

  await world.say(ADA, '/start');
  await world.press(ADA, 'client:');
  const shown = server.last(ADA);
  await world.press(ADA, 'links:');
  const [link = ''] = await panel.get<string[]>('/panel/api/clients/links/ada');
  await world.until(() => server.last(ADA)?.text.includes(ada.uuid) === true, 'the link');
  const account = (text: string) => /vless:\/\/[^@]+@/.exec(text)?.[0];
  t.is(account(server.last(ADA)?.text ?? ''), account(link));
  t.regex(server.last(ADA)?.text ?? '', /@panel\.example\.com:/);

  // Forged buttons of another client.
  const forged = [
    ...['client', 'links', 'qr', 'sub'].map((name) => `${name}:${bob.id}`),
    ...['reset', 'resetNow', 'devices', 'forgetNow'].map((name) => `${name}:${ada.id}`),
    ...[`put:${ada.id}:traffic:0`, 'server', 'backup', 'restartNow', 'resetAllNow', 'add'],
  ];
  for (const data of forged) {
    const pressed = server.notices.length;
    server.press(ADA, shown?.messageId ?? 0, data);
    await world.until(() => server.notices.length > pressed, `an answer to ${data}`);
  }
  t.false(server.texts(ADA).some((text) => text.includes('bob') || text.includes(bob.uuid)));
  t.is(server.files.length, 0);
  t.is(world.engine.restarts.length, 0);
  t.is((await panel.get<{ totalGB: number }>('/panel/api/clients/get/ada')).totalGB, 1024 ** 3);
  for (const command of ['/restart', '/clearall', '/inbound home'])
    t.regex(await world.say(ADA, command), /may not/);

  await world.say(ADA, '/start');
  await world.press(ADA, 'client:');
  await world.press(ADA, 'qr:');
  await world.until(() => server.files.length === 2, 'two pictures');
  const [subscription, picture] = server.files;
  const read = (bytes: Buffer) => {
    const { data, side } = pixelsOf(bytes);
    return jsQr.default(data, side, side)?.data;
  };
  t.regex(read(subscription?.bytes ?? Buffer.alloc(0)) ?? '', new RegExp(`/${ada.subId}$`));
  t.is(account(read(picture?.bytes ?? Buffer.alloc(0)) ?? ''), account(link));

  // It is another user's now.
  await panel.get('/panel/api/clients/update/ada', { body: { tgId: BOB } });
  t.regex(await world.say(ADA, '/usage ada'), /no access/);
  t.regex(await world.say(BOB, '/start'), /2 accounts belong/);
  await panel.get('/panel/api/clients/del/ada', { body: {} });
  t.regex(await world.say(BOB, '/start'), /1 account belongs/);
  t.deepEqual(panel.faults, []);
});

test('strangers learn their id and nothing else, a few times', async (t) => {
  await using world = await bootBot(t);
  await connected(world);
  const { server } = world;
  t.regex(await world.say(STRANGER_ID, '/start'), /no access.*<code>666<\/code>/);
  t.regex(await world.say(STRANGER_ID, '/usage ada'), /no access/);
  server.press(STRANGER_ID, 1, 'server');
  for (let n = 0; n < 50; n++) server.say(STRANGER_ID, '/start');
  // Answers to the admin come while they flood.
  t.regex(await world.say(ADMIN_ID, '/status'), /works/);
  await world.until(() => server.unconfirmed === 0, 'all are taken');
  t.is(server.texts(STRANGER_ID).length, 2, 'the third of a minute was the button');
});

test('a flood of many strangers costs few answers, and admins none of theirs', async (t) => {
  await using world = await bootBot(t);
  await connected(world);
  const { server } = world;
  for (let n = 0; n < 2_000; n++) {
    server.chats.add(10_000 + n);
    server.say(10_000 + n, '/start');
  }
  const began = Date.now();
  t.regex(await world.say(ADMIN_ID, '/status'), /works/);
  await world.until(() => server.unconfirmed === 0, 'all are taken');
  t.true(server.sent.length <= 40, `${server.sent.length} answers`);
  t.log(`2,000 strangers: ${Date.now() - began} ms, ${server.sent.length} answers`);
});

test('groups, channels, other bots and commands for other bots are ignored', async (t) => {
  await using world = await bootBot(t);
  await connected(world);
  const { server } = world;
  const group = { id: -100_500, type: 'supergroup', title: 'all' };
  server.chats.add(group.id);
  server.say(ADMIN_ID, '/restart', { chat: group });
  server.push({
    ...messageOf(ADMIN_ID, '/restart', { from: { id: ADMIN_ID, is_bot: true, first_name: 'x' } }),
  });
  server.push({ channel_post: { message_id: 1, chat: { id: -5, type: 'channel' }, text: '/restart' } });
  server.push({
    callback_query: {
      id: 'q',
      from: { id: ADMIN_ID, is_bot: false },
      data: 'restartNow',
      message: { message_id: 1, chat: group },
    },
  });
  server.say(ADMIN_ID, '/restart@another_bot');
  t.regex(await world.say(ADMIN_ID, '/status@Weir_Test_Bot'), /works/);
  t.is(server.sent.length, 1);
  t.is(world.engine.restarts.length, 0);
});

test('what a user sends can be anything', async (t) => {
  await using world = await bootBot(t);
  await connected(world);
  const { server } = world;
  const junk = [
    {},
    { message: null },
    { message: 'text' },
    { message: { message_id: 'x' } },
    { message: messageOf(ADMIN_ID, 'a'.repeat(9_000)).message },
    { message: { ...messageOf(ADMIN_ID, '/id').message, from: { id: -1 } } },
    { message: { ...messageOf(ADMIN_ID, '/id').message, from: null } },
    { callback_query: { id: 'q', from: { id: ADMIN_ID } } },
    {
      callback_query: {
        id: 'q',
        from: { id: ADMIN_ID },
        data: 'x'.repeat(300),
        message: { message_id: 1, chat: { id: ADMIN_ID, type: 'private' } },
      },
    },
  ];
  for (const update of junk) server.push(update);
  for (const data of [
    '',
    ':',
    'constructor',
    '__proto__:1',
    'toString',
    'client',
    'client:',
    'client:1e3',
    'client:-1',
    'client:99999999999999999999',
    'set:1',
    'set:1:constructor',
    'put:1:traffic:1',
    'draft:traffic',
    'draftPut:x:y',
    'draftCreate',
    'draftInbound:1:on',
    `${'x'.repeat(100)}`,
    'inbound:0:0',
    'ask:1:expiry',
    '\u0000',
    'x:\ud800',
  ])
    server.press(ADMIN_ID, 1, data);
  for (const text of [
    '/',
    '/constructor',
    '/__proto__',
    '/start\u0000',
    '\ud800',
    '/usage \ud800<b>',
    '/inbound {x, plural}',
    '/usage \u202eevil',
  ])
    server.say(ADMIN_ID, text);
  await world.until(() => server.unconfirmed === 0, 'all are taken');
  await new Promise((done) => setTimeout(done, 500));
  // Some of them were too many at once.
  await new Promise((done) => setTimeout(done, 3_000));
  t.regex(await world.say(ADMIN_ID, '/status'), /works/);
  t.deepEqual(world.panel.faults, []);
  t.false(world.panel.log.some((line) => line.includes('could not do what a user asked for')));
});

// What admins do in the chat, on a whole panel.
import test from 'ava';
import { ADMIN_ID, bootBot, connected } from './bot-world.js';

interface Change {
  readonly who: string;
  readonly whoKind: string;
  readonly area: string;
  readonly kind: string;
  readonly name: string;
}

test('an admin sees the menu, the server, inbounds and a client', async (t) => {
  await using world = await bootBot(t);
  await connected(world);
  const inbound = await world.panel.addInbound({ remark: 'home <b>' });
  await world.panel.addClient('ada', [inbound], { totalGB: 1024 ** 3 });
  t.regex(await world.say(ADMIN_ID, '/start'), /Choose/);
  t.regex(await world.press(ADMIN_ID, 'server'), /Core: .*running/);
  await world.press(ADMIN_ID, 'menu');
  t.regex(await world.press(ADMIN_ID, 'inbounds'), /1 inbound/);
  t.regex(await world.press(ADMIN_ID, `inbound:${inbound}`), /home &lt;b&gt;[\s\S]*1 client,/);
  t.regex(await world.press(ADMIN_ID, 'client:'), /<b>ada<\/b>[\s\S]*of 1 GB/);
  t.regex(await world.say(ADMIN_ID, '/usage ADA'), /<b>ada<\/b>/);
  t.regex(await world.say(ADMIN_ID, '/usage bob'), /no such client/);
  t.regex(await world.say(ADMIN_ID, '/inbound home <b>'), /1 client/);
  t.regex(await world.say(ADMIN_ID, '/id'), /11/);
  t.regex(await world.say(ADMIN_ID, '/status'), /works/);
  t.regex(await world.say(ADMIN_ID, '/nothing'), /no such command/);
  t.regex(await world.say(ADMIN_ID, 'hello'), /no open question/);
  await world.say(ADMIN_ID, '/start');
  t.regex(await world.press(ADMIN_ID, 'report'), /<b>Report<\/b>/);
  t.deepEqual(world.panel.faults, []);
});

test('a long name with a character of two units is cut between characters on a button', async (t) => {
  await using world = await bootBot(t);
  await connected(world);
  const remark = `${'a'.repeat(59)}😀${'b'.repeat(40)}`;
  const inbound = await world.panel.addInbound({ remark });
  await world.say(ADMIN_ID, '/start');
  t.regex(await world.press(ADMIN_ID, 'inbounds'), /1 inbound/);
  const shown = world.server.last(ADMIN_ID)?.buttons.find(({ data }) => data === `inbound:${inbound}`);
  t.regex(shown?.text ?? '', /^🟢 a+(?:😀b*)?…$/u);
  t.true((shown?.text.length ?? 99) <= 64);
  await world.press(ADMIN_ID, 'menu');
  await world.press(ADMIN_ID, 'add');
  t.regex(await world.press(ADMIN_ID, 'draftInbounds'), /Choose the inbounds/);
});

test('an admin changes a client, and the record of changes says who', async (t) => {
  await using world = await bootBot(t);
  await connected(world);
  const inbound = await world.panel.addInbound();
  const ada = await world.panel.addClient('ada', [inbound]);
  const get = () => world.panel.get<Record<string, number | string | boolean>>('/panel/api/clients/get/ada');
  world.engine.move(inbound, ada.id, 100, 200);

  await world.say(ADMIN_ID, '/usage ada');
  await world.press(ADMIN_ID, `set:${ada.id}:traffic`);
  await world.press(ADMIN_ID, `put:${ada.id}:traffic:50`);
  t.is((await get())['totalGB'], 50 * 1024 ** 3);

  await world.press(ADMIN_ID, `set:${ada.id}:expiry`);
  await world.press(ADMIN_ID, `ask:${ada.id}:expiry`);
  t.regex(await world.say(ADMIN_ID, 'soon'), /whole number from -36,?500/);
  await world.say(ADMIN_ID, '-۱۰');
  t.is((await get())['expiryTime'], -10 * 86_400_000, 'Persian digits; counted from the first use');

  await world.press(ADMIN_ID, `set:${ada.id}:comment`);
  await world.say(ADMIN_ID, 'paid <i>until</i> May & June');
  t.is((await get())['comment'], 'paid <i>until</i> May & June');
  await world.press(ADMIN_ID, `set:${ada.id}:messengerId`);
  await world.say(ADMIN_ID, '777');
  t.is((await get())['tgId'], 777);
  await world.press(ADMIN_ID, `set:${ada.id}:ipLimit`);
  await world.press(ADMIN_ID, `put:${ada.id}:ipLimit:2`);
  await world.press(ADMIN_ID, `set:${ada.id}:deviceLimit`);
  await world.press(ADMIN_ID, `put:${ada.id}:deviceLimit:3`);
  t.like(await get(), { limitIp: 2, limitHwid: 3 });
  await world.press(ADMIN_ID, `toggle:${ada.id}:off`);
  t.is((await get())['enable'], false);
  await world.press(ADMIN_ID, `toggle:${ada.id}:on`);
  t.is((await get())['enable'], true);
  t.regex(await world.press(ADMIN_ID, `devices:${ada.id}`), /No devices/);
  await world.press(ADMIN_ID, `client:${ada.id}`);
  t.regex(await world.press(ADMIN_ID, `reset:${ada.id}`), /Reset the traffic of/);
  t.regex(await world.press(ADMIN_ID, `resetNow:${ada.id}`), /Done/);

  const items = await world.panel.get<Change[]>('/panel/api/x/audit/changes?limit=50');
  const ours = items.filter(({ who }) => who === `msg-bot ${ADMIN_ID}`);
  t.true(ours.length >= 8);
  t.true(ours.every(({ whoKind, area, name }) => whoKind === 'chat' && area === 'client' && name === 'ada'));
});

test('an admin adds a client step by step', async (t) => {
  await using world = await bootBot(t);
  await connected(world);
  const inbound = await world.panel.addInbound();
  await world.say(ADMIN_ID, '/start');
  t.regex(await world.press(ADMIN_ID, 'add'), /New client/);
  t.regex(await world.press(ADMIN_ID, 'draftCreate:on'), /at least one inbound/);
  await world.say(ADMIN_ID, '/start');
  await world.press(ADMIN_ID, 'add');
  await world.press(ADMIN_ID, 'draft:email');
  t.regex(await world.say(ADMIN_ID, 'grace@example.org'), /Email: grace@example\.org/);
  await world.press(ADMIN_ID, 'draft:traffic');
  await world.press(ADMIN_ID, 'draftPut:traffic:20');
  await world.press(ADMIN_ID, 'draft:expiry');
  await world.press(ADMIN_ID, 'draftPut:expiry:-30');
  await world.press(ADMIN_ID, 'draft:comment');
  await world.say(ADMIN_ID, 'by chat');
  await world.press(ADMIN_ID, 'draftInbounds');
  await world.press(ADMIN_ID, `draftInbound:${inbound}:on`);
  await world.press(ADMIN_ID, 'draftShow');
  t.regex(await world.press(ADMIN_ID, 'draftCreate:on'), /was created/);
  const grace = await world.panel.get<Record<string, unknown>>('/panel/api/clients/get/grace%40example.org');
  t.like(grace, { totalGB: 20 * 1024 ** 3, expiryTime: -30 * 86_400_000, comment: 'by chat', enable: true });
  t.deepEqual(grace['inboundIds'], [inbound]);
});

test('an admin restarts the core and resets all traffic, after a question each', async (t) => {
  await using world = await bootBot(t);
  await connected(world);
  t.regex(await world.say(ADMIN_ID, '/restart'), /Restart the core/);
  t.deepEqual(world.engine.restarts, []);
  await world.press(ADMIN_ID, 'restartNow');
  await world.until(() => world.server.last(ADMIN_ID)?.text === 'Done.', 'it is done');
  t.is(world.engine.restarts.length, 1);
  t.regex(await world.say(ADMIN_ID, '/clearall'), /all 0 clients/);
  await world.press(ADMIN_ID, 'resetAllNow');
  await world.until(() => world.server.last(ADMIN_ID)?.text === 'Done.', 'it is done');
  const items = await world.panel.get<Change[]>('/panel/api/x/audit/changes?limit=50');
  t.true(
    items.some(
      ({ who, area, name }) => who === `msg-bot ${ADMIN_ID}` && area === 'core' && name === 'restart',
    ),
  );
});

test('an admin sees the devices of a client and forgets them', async (t) => {
  await using world = await bootBot(t);
  await connected(world);
  const inbound = await world.panel.addInbound();
  const ada = await world.panel.addClient('ada', [inbound], { limitHwid: 2 });
  const { subPath } = await world.panel.get<{ subPath: string }>('/panel/api/setting/all', {
    method: 'POST',
  });
  await fetch(`${world.panel.subscriptionUrl}${subPath}${ada.subId}`, {
    headers: { 'x-hwid': 'a-device-of-ada', 'x-device-model': 'Phone <1>', 'x-device-os': 'OS' },
  });
  await world.say(ADMIN_ID, '/usage ada');
  const shown = await world.press(ADMIN_ID, `devices:${ada.id}`);
  t.regex(shown, /1 device of <b>ada<\/b>\nPhone &lt;1&gt;, OS, last seen /);
  t.regex(await world.press(ADMIN_ID, `forget:${ada.id}`), /Forget all devices/);
  t.regex(await world.press(ADMIN_ID, `forgetNow:${ada.id}`), /Done/);
  t.deepEqual(await world.panel.get('/panel/api/clients/hwids/ada', { body: {} }), []);
  const [newest] = await world.panel.get<Change[]>('/panel/api/x/audit/changes?limit=1');
  t.like(newest, { who: `msg-bot ${ADMIN_ID}`, whoKind: 'chat' });
});

test('an email that is taken is refused with the reason, and the draft stays', async (t) => {
  await using world = await bootBot(t);
  await connected(world);
  const inbound = await world.panel.addInbound();
  await world.panel.addClient('ada', [inbound]);
  await world.say(ADMIN_ID, '/start');
  await world.press(ADMIN_ID, 'add');
  await world.press(ADMIN_ID, 'draft:email');
  await world.say(ADMIN_ID, 'ada');
  await world.press(ADMIN_ID, 'draftInbounds');
  await world.press(ADMIN_ID, `draftInbound:${inbound}:on`);
  await world.press(ADMIN_ID, 'draftShow');
  const draft = world.server.last(ADMIN_ID);
  t.regex(await world.press(ADMIN_ID, 'draftCreate:off'), /did not work: email already in use/);
  world.server.press(ADMIN_ID, draft?.messageId ?? 0, 'draft:email');
  await world.until(
    () => /Send the email/.test(world.server.last(ADMIN_ID)?.text ?? ''),
    'the draft is there',
  );
  t.regex(await world.say(ADMIN_ID, 'ada2'), /Email: ada2/);
});

// Every endpoint of the section about one client and about lists, with every field of its table, sent and read back.
import test from 'ava';
import { Asking } from './asking.js';
import { CLIENTS } from './clients.js';
import { openWorld } from './world.js';

const DAY = 86_400_000;
/** A value for each field that a caller can set, none of which is a default. */
const fieldsOf = (now: number) => ({
  email: 'Ann@example.org',
  subId: 'sub-ann',
  uuid: '5783a3e7-e373-51cd-8642-c83782b807c5',
  totalGB: 5_000_000_000,
  expiryTime: now + 30 * DAY,
  enable: true,
  reverse: { tag: 'back' },
  comment: 'paid',
  group: 'family',
  limitIp: 2,
  limitHwid: 3,
  tgId: 4711,
  flow: 'xtls-rprx-vision',
  reset: 30,
  resetDay: 0,
  resetMax: 5,
});
interface Client {
  readonly id: number;
  readonly email: string;
}
interface Page {
  readonly items: readonly Client[];
  readonly total: number;
  readonly filtered: number;
  readonly page: number;
  readonly pageSize: number;
}

test('one client: the section of the API description', async (t) => {
  const { engine, clock, panel, poll } = await openWorld();
  await using _ = panel;
  const [first, second] = [await panel.addInbound(), await panel.addInbound({ protocol: 'trojan' })];
  const asking = new Asking(panel, CLIENTS);
  const at = '/panel/api/clients';
  const fields = fieldsOf(clock.now());
  const { email } = fields;

  await asking.ask(t, `POST ${at}/add`, { body: { client: fields, inboundIds: [first] } });
  const link = { kind: 'link', value: 'trojan://secret@far.example:443#far', remark: 'far' };
  const source = { kind: 'subscription', value: 'https://lists.example/one', remark: '', namePrefix: 'x-' };
  const more = { enable: true, expiryTime: clock.now() + DAY };
  await asking.ask(t, `POST ${at}/{email}/externalLinks`, {
    at: [email],
    body: {
      externalLinks: [
        { ...link, ...more },
        { ...source, ...more, enable: false },
      ],
    },
  });
  const get = () => asking.ask<Client>(t, `GET ${at}/get/{email}`, { at: [email] });
  const client = await get();
  t.like(client, {
    ...fields,
    inboundIds: [first],
    externalLinks: [
      { ...link, ...more },
      { ...source, ...more, enable: false },
    ],
  });
  const { id } = client;

  const change = {
    ...fields,
    ...{
      totalGB: 0,
      expiryTime: 0,
      limitIp: 0,
      limitHwid: 0,
      comment: '',
      group: '',
      flow: '',
      enable: false,
    },
    ...{ reverse: null, tgId: 4712, reset: 0, resetDay: 15, resetMax: 0 },
  };
  await asking.ask(t, `POST ${at}/update/{email}`, { at: [email], body: change });
  t.like(await get(), change as object);
  await asking.ask(t, `POST ${at}/update/{email}`, { at: [email], body: fields });
  t.like(await get(), fields);
  // Fields that are left out stay as they are.
  await asking.ask(t, `POST ${at}/update/{email}`, { at: [email], body: { comment: 'half' } });
  t.like(await get(), { ...fields, comment: 'half' });

  await asking.ask(t, `POST ${at}/{email}/attach`, { at: [email], body: { inboundIds: [second] } });
  t.like(await get(), { inboundIds: [first, second] });
  t.is((await asking.ask<string[]>(t, `GET ${at}/links/{email}`, { at: [email] })).length, 3);
  t.is((await asking.ask<string[]>(t, `GET ${at}/subLinks/{subId}`, { at: ['sub-ann'] })).length, 3);
  await asking.ask(t, `POST ${at}/{email}/detach`, { at: [email], body: { inboundIds: [second] } });
  t.like(await get(), { inboundIds: [first] });
  t.like(await asking.ask(t, `GET ${at}/get/tgId/{tgId}`, { at: [4711] }), { id, sameTgId: [] });

  engine.move(first, id, 100, 2000);
  await poll();
  const traffic = () => asking.ask(t, `GET ${at}/traffic/{email}`, { at: [email] });
  t.like(await traffic(), {
    ...{ id, inboundId: first, email, subId: fields.subId, uuid: fields.uuid, enable: true },
    ...{ expiryTime: fields.expiryTime, total: fields.totalGB, up: 100, down: 2000, reset: 30, resetMax: 5 },
    lastOnline: clock.now(),
  });
  await asking.ask(t, `POST ${at}/updateTraffic/{email}`, { at: [email], body: { upload: 7, download: 8 } });
  t.like(await traffic(), { up: 7, down: 8 });
  await asking.ask(t, `POST ${at}/resetTraffic/{email}`, { at: [email] });
  t.like(await traffic(), { up: 0, down: 0 });

  await panel.get('/panel/api/server/clientIps', {
    body: [{ clientEmail: email, ips: [{ ip: '203.0.113.9', timestamp: Math.floor(clock.now() / 1000) }] }],
  });
  const ips = () => asking.ask<{ ip: string }[]>(t, `POST ${at}/ips/{email}`, { at: [email] });
  t.like(await ips(), [{ ip: '203.0.113.9' }]);
  await asking.ask(t, `POST ${at}/clearIps/{email}`, { at: [email] });
  t.deepEqual(await ips(), []);

  await panel.get('/panel/api/setting/update', { body: { subPath: '/s/', appLinkEnable: true } });
  for (const hwid of ['phone-1', 'laptop-1', 'tablet-1'])
    await fetch(`${panel.subscriptionUrl}/s/sub-ann`, {
      headers: { 'x-hwid': hwid, 'x-device-os': 'Linux', 'x-ver-os': '6', 'x-device-model': hwid },
    });
  await panel.kernel.settled();
  const devices = () => panel.get<{ id: number }[]>(`${at}/hwids/${email}`, { method: 'POST' });
  const known = await asking.ask<{ id: number }[]>(t, `POST ${at}/hwids/{email}`, { at: [email] });
  t.is(known.length, 3);
  await asking.ask(t, `DELETE ${at}/hwids/{email}/{deviceId}`, { at: [email, known[0]?.id ?? 0] });
  t.is((await devices()).length, 2);
  await asking.ask(t, `DELETE ${at}/hwids/{email}`, { at: [email] });
  t.deepEqual(await devices(), []);
  await asking.ask(t, `POST ${at}/appLink/{id}`, { at: [id] });

  await panel.addClient('bob', [second], { comment: 'other' });
  t.deepEqual(
    (await asking.ask<Client[]>(t, `GET ${at}/list`)).map((one) => one.email),
    [email, 'bob'],
  );
  const page = (query: Record<string, string | number>) =>
    asking.ask<Page>(t, `GET ${at}/list/paged`, { query });
  for (const query of [
    ...[{ search: 'ANN@' }, { search: 'sub-ann' }, { search: '5783a3e7' }, { search: '4711' }],
    ...[{ status: 'active' }, { filter: 'active' }].map((one) => ({ ...one, search: 'ann' })),
    ...[{ protocol: 'vless,vmess' }, { inboundIds: `${first},0,x` }, { inbound: first }],
    ...[{ expiryFrom: 1 }, { expiryTo: clock.now() + 31 * DAY, expiryFrom: 1 }],
    ...[{ autoRenew: 'on' }, { hasTgId: 'yes' }, { group: ' FAMILY ,none' }],
    ...[{ hasComment: 'yes', sort: 'email', order: 'ascend', pageSize: 1 }],
    { sort: 'createdAt', order: 'ascend', page: 1, pageSize: 1 },
  ]) {
    const { items, total } = await page(query);
    t.deepEqual([items[0]?.email, items.length, total], [email, 1, 2], JSON.stringify(query));
  }
  await panel.get(`${at}/updateTraffic/bob`, { body: { upload: 600, download: 600 } });
  for (const query of [
    ...[{ usageFrom: 1000 }, { usageFrom: 1, usageTo: 1200 }, { autoRenew: 'off' }, { hasTgId: 'no' }],
    { sort: 'email', order: 'descend', pageSize: 1 },
    { page: 2, pageSize: 1 },
  ]) {
    const { items } = await page(query);
    t.deepEqual(
      items.map((one) => one.email),
      ['bob'],
      JSON.stringify(query),
    );
  }
  t.like(await page({}), { page: 1, pageSize: 25, filtered: 2 });
  t.like(await page({ pageSize: 1000 }), { pageSize: 200 });

  const data = await asking.ask<{ client: Client }[]>(t, `GET ${at}/export`);
  t.like(data, [
    { client: { email, id: fields.uuid, createdAt: (client as { createdAt?: number }).createdAt } },
  ]);
  await asking.ask(t, `POST ${at}/del/{email}`, { at: [email], query: { keepTraffic: 1 } });
  t.is((await panel.call(`${at}/get/${email}`)).status, 404);
  t.like(await asking.ask(t, `POST ${at}/import`, { body: { data: JSON.stringify(data) } }), {
    created: 1,
    skipped: [{ email: 'bob' }],
  });
  t.like(await panel.get(`${at}/get/${email}`), { ...fields, comment: 'half', inboundIds: [first] });
  asking.end(t);
});

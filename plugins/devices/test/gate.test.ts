// Runs on every database in test:full.
// Who gets a subscription while there is a limit of devices, and with which headers.
import { createHash } from 'node:crypto';
import test from 'ava';
import { type Database, definePlugin, tap } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, refused, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import { beforeSubscription, subscriptionHeaders } from '../../subscription/contract.js';
import { deviceAdded, deviceRefused } from '../contract.js';
import type { DeviceStore } from '../device-store.js';
import devices from '../index.js';

const HWIDS = '/panel/api/clients/hwids';
const clock = new FakeClock();
const observed = servicesOf<{ store: DeviceStore }>(devices);
const heard: string[] = [];
let db: Database;
const listener = definePlugin({
  name: 'listener',
  version: '1.0.0',
  api: 1,
  about: 'Receives devices.',
  taps: () => [
    tap(deviceAdded, ({ devices: all }) => {
      for (const { email, fingerprint, deviceModel } of all)
        heard.push(`added ${email} ${fingerprint} ${deviceModel}`);
    }),
    tap(deviceRefused, ({ devices: all }) => {
      for (const { email, fingerprint, reason, limit } of all)
        heard.push(`refused ${email} ${fingerprint} ${reason} ${limit}`);
    }),
  ],
  start: (context) => {
    db = context.db;
  },
});
/** Sends every fetch through the slow path. */
const onlooker = definePlugin({
  name: 'onlooker',
  version: '1.0.0',
  api: 1,
  about: 'Taps into fetches.',
  taps: () => [tap(beforeSubscription, () => undefined), tap(subscriptionHeaders, (headers) => headers)],
});

let panel: TestPanel;
let inbound: number;
const prepared = async (plugins: Parameters<typeof TestPanel.boot>[0]): Promise<TestPanel> => {
  const booted = await TestPanel.boot({ clock, ...plugins });
  await booted.get('/panel/api/setting/update', { body: { subPath: '/s/' } });
  return booted;
};
test.before(async () => {
  panel = await prepared({ plugins: [new FakeEngine().plugin, observed.plugin, listener] });
  inbound = await panel.addInbound();
});
test.after.always(() => panel[Symbol.asyncDispose]());

interface Device {
  readonly id: number;
  readonly firstSeen: number;
  readonly lastSeen: number;
  readonly userAgent: string;
  readonly deviceOs: string;
  readonly osVersion: string;
  readonly deviceModel: string;
  readonly fingerprint: string;
}
const client = (email: string, fields: Record<string, unknown> = {}) =>
  panel.addClient(email, [inbound], { subId: `sub-${email}`, ...fields });
const update = (email: string, body: Record<string, unknown>) =>
  panel.get(`/panel/api/clients/update/${email}`, { body });
const list = (email: string) => panel.get<Device[]>(`${HWIDS}/${email}`, { method: 'POST' });
/** Status and the headers of devices, in short. */
async function fetched(
  email: string,
  hwid?: string,
  { headers = {}, method = 'GET', at = panel }: { headers?: object; method?: string; at?: TestPanel } = {},
): Promise<string> {
  const answer = await fetch(`${at.subscriptionUrl}/s/sub-${email}`, {
    method,
    headers: { ...headers, ...(hwid !== undefined && { 'X-HWID': hwid }) },
  });
  const body = await answer.text();
  if (answer.status === 404 && body !== '') throw new Error(`404 with the body ${body}`);
  const own = [...answer.headers].flatMap(([name, value]) =>
    name.startsWith('x-hwid-') ? [`${name.slice(7)}=${value}`] : [],
  );
  return [answer.status, ...own.sort()].join(' ');
}
const OK = '200 active=true';
const FULL = '200 active=true limit=true';
const NO_ID = '404 active=true not-supported=true';
const NO_PLACE = '404 active=true limit=true max-devices-reached=true';
const status = async (subId: string, method = 'GET') => {
  const answer = await fetch(`${panel.subscriptionUrl}/s/${subId}/hwid-status`, { method });
  const text = await answer.text();
  return answer.status === 200 && text !== '' ? (JSON.parse(text) as unknown) : [answer.status, text];
};
const memoryMatches = async (): Promise<boolean> => {
  const { projection } = observed.services.store;
  await observed.services.store.flush();
  const plain = (memory: typeof projection.state) =>
    JSON.stringify([
      memory.size,
      Array.from({ length: 100 }, (_, id) => memory.of(id).toSorted((a, b) => (a.hash < b.hash ? -1 : 1))),
    ]);
  return plain(projection.state) === plain(await projection.fresh());
};

test.serial(
  'a limit refuses whoever has no id and whoever comes too late, with the headers of the convention',
  async (t) => {
    await client('ann', { limitHwid: 2 });
    t.is(await fetched('ann'), NO_ID);
    t.is(await fetched('ann', '12345'), NO_ID, 'too short');
    t.is(await fetched('ann', '  12345   '), NO_ID, 'blanks do not count');
    t.is(await fetched('ann', 'phone-1'), OK);
    clock.tick(1);
    t.is(await fetched('ann', ' phone-1 '), OK, 'the same device');
    const [{ firstSeen = 0, lastSeen = 0 } = {}] = await list('ann');
    t.is(lastSeen - firstSeen, 1, 'both fetches are in one row');
    t.is(await fetched('ann', 'six-06', { method: 'HEAD' }), FULL, 'six characters; HEAD registers as well');
    t.is(await fetched('ann', 'phone-3'), NO_PLACE);
    t.is(await fetched('ann', 'phone-3', { method: 'HEAD' }), NO_PLACE);
    t.is(await fetched('ann', 'phone-1'), FULL, 'a known device is always admitted');
    t.is((await list('ann')).length, 2);
    t.is(await fetched('nobody', 'phone-1'), '404');
  },
);

test.serial('both paths decide alike', async (t) => {
  await using slow = await prepared({ plugins: [new FakeEngine().plugin, onlooker] });
  const uuid = '11111111-2222-4333-8444-555555555555';
  await slow.addClient('two', [await slow.addInbound()], { subId: 'sub-two', limitHwid: 1, uuid });
  await client('two', { limitHwid: 1, uuid });
  for (const [hwid, method] of [
    [undefined, 'GET'],
    ['tablet-1', 'GET'],
    ['tablet-2', 'GET'],
    ['tablet-2', 'HEAD'],
    ['tablet-1', 'HEAD'],
  ] as const) {
    const answers = [panel, slow].map(async (at) => {
      const answer = await fetch(`${at.subscriptionUrl}/s/sub-two`, {
        method,
        headers: hwid === undefined ? {} : { 'X-HWID': hwid },
      });
      const headers = [...answer.headers].filter(
        ([name]) => !['date', 'content-length', 'etag'].includes(name),
      );
      return [answer.status, headers];
    });
    t.deepEqual(await answers[0], await answers[1], `${method} ${hwid}`);
  }
});

test.serial(
  'of 50 devices that fetch at the same time exactly as many as the limit are admitted',
  async (t) => {
    await client('many', { limitHwid: 7 });
    const all = (ids: readonly number[]) =>
      Promise.all(ids.map((i) => fetched('many', `device-number-${i}`)));
    const ids = Array.from({ length: 50 }, (_, i) => i);
    const first = await all(ids);
    t.is(first.filter((answer) => answer === OK || answer === FULL).length, 7);
    t.is(first.filter((answer) => answer === NO_PLACE).length, 43);
    const second = await all(ids);
    t.deepEqual(
      second.map((answer) => answer.startsWith('200')),
      first.map((answer) => answer.startsWith('200')),
      'the same ones again',
    );
    t.is((await list('many')).length, 7);
    t.true(await memoryMatches());
  },
);

test.serial('the list shows what devices say, cut, and never their id or its hash', async (t) => {
  await client('bob');
  clock.tick(1000);
  const firstSeen = clock.now();
  const id = 'a-device-of-bob';
  const model = Buffer.from('Телефон 5').toString('latin1');
  const headers = {
    'User-Agent': 'v2rayNG/1.9',
    'X-Device-OS': 'Android',
    'X-Ver-OS': '15',
    'X-Device-Model': model,
  };
  t.is(await fetched('bob', id, { headers }), '200', 'without a limit there are no headers');
  clock.tick(1000);
  await fetched('bob', 'another-of-bob', { headers: { 'User-Agent': 'x'.repeat(600) } });
  const hash = createHash('sha256').update(id).digest('hex');
  const [newest, oldest] = await list('bob');
  t.is(newest?.userAgent.length, 512);
  const { id: rowId, ...shown } = oldest as Device;
  t.true(Number.isSafeInteger(rowId));
  t.deepEqual(shown, {
    firstSeen,
    lastSeen: firstSeen,
    userAgent: 'v2rayNG/1.9',
    deviceOs: 'Android',
    osVersion: '15',
    deviceModel: 'Телефон 5',
    fingerprint: hash.slice(0, 12),
  });
  clock.tick(1000);
  await fetched('bob', id, { headers: { ...headers, 'X-Ver-OS': '16' } });
  t.like((await list('bob'))[0], { id: rowId, firstSeen, lastSeen: clock.now(), osVersion: '16' });
});

test.serial('a removed device frees its place at once, and foreign ids are refused', async (t) => {
  await client('eve', { limitHwid: 1 });
  await client('eve2', { limitHwid: 1 });
  t.is(await fetched('eve', 'laptop-1'), FULL);
  t.is(await fetched('eve2', 'laptop-1'), FULL, 'devices belong to one client');
  const [own] = await list('eve');
  const [foreign] = await list('eve2');
  const remove = (path: string) => panel.call(`${HWIDS}/${path}`, { method: 'DELETE' });
  const before = await list('eve2');
  for (const [path, code, field] of [
    [`eve/${foreign?.id}`, 'DEVICES_NOT_FOUND', 'deviceId'],
    ['eve/999999', 'DEVICES_NOT_FOUND', 'deviceId'],
    ['nobody', 'CLIENTS_NOT_FOUND', 'email'],
    ['nobody/1', 'CLIENTS_NOT_FOUND', 'email'],
    [encodeURIComponent("' OR 1=1 --"), 'CLIENTS_NOT_FOUND', 'email'],
  ] as const)
    await refused(t, panel, `${HWIDS}/${path}`, { method: 'DELETE' }, { status: 404, code, field });
  for (const path of ['eve/0', 'eve/-1', 'eve/x', 'eve/1.5'])
    t.is((await remove(path)).body.code, 'KERNEL_INVALID', path);
  t.is((await panel.call(`${HWIDS}/nobody`, { method: 'POST' })).body.code, 'CLIENTS_NOT_FOUND');
  t.is((await panel.call(`${HWIDS}/eve`, { method: 'DELETE', anonymous: true })).status, 401);
  t.deepEqual(await list('eve2'), before);

  t.is(await fetched('eve', 'laptop-2'), NO_PLACE);
  t.is((await remove(`eve/${own?.id}`)).body.success, true);
  t.is(await fetched('eve', 'laptop-2'), FULL);
  t.is((await remove('eve')).body.success, true);
  t.deepEqual(await list('eve'), []);
  t.is(await fetched('eve', 'laptop-3'), FULL);
  t.true(await memoryMatches());
});

test.serial('the status counts places and registers nobody', async (t) => {
  await client('sue', { limitHwid: 2 });
  const is = (registered: number, remaining: number, full: boolean) => ({
    active: true,
    full,
    limit: 2,
    registered,
    remaining,
  });
  t.deepEqual(await status('sub-sue'), is(0, 2, false));
  await fetched('sue', 'watch-1');
  t.deepEqual(await status('sub-sue'), is(1, 1, false));
  await fetched('sue', 'watch-2');
  t.deepEqual(await status('sub-sue'), is(2, 0, true));
  t.deepEqual(await status('sub-sue', 'HEAD'), [200, '']);
  await update('sue', { limitHwid: 0 });
  const none = { active: false, full: false, limit: 0, registered: 0, remaining: 0 };
  t.deepEqual(await status('sub-sue'), none);
  await update('sue', { enable: false });
  for (const subId of ['sub-sue', 'nobody', '%20', '__proto__'])
    t.deepEqual(await status(subId), [404, ''], subId);
  // As for the subscription itself: the reply does not say whether the prefix was right.
  const nobody = await fetch(`${panel.subscriptionUrl}/s/nobody/hwid-status`);
  const elsewhere = await fetch(`${panel.subscriptionUrl}/x/nobody/hwid-status`);
  const own = (headers: Headers) => [...headers].filter(([name]) => name !== 'date');
  t.deepEqual(own(nobody.headers), own(elsewhere.headers));
});

test.serial('a lowered limit keeps the devices and refuses new ones until there is room', async (t) => {
  await client('low', { limitHwid: 3 });
  for (const i of [1, 2, 3]) await fetched('low', `device-${i}`);
  await update('low', { limitHwid: 1 });
  for (const i of [1, 2, 3]) t.is(await fetched('low', `device-${i}`), FULL);
  t.is(await fetched('low', 'device-4'), NO_PLACE);
  t.like(await status('sub-low'), { registered: 3, remaining: 0, full: true });
  const [a, b] = await list('low');
  for (const id of [a?.id, b?.id]) await panel.get(`${HWIDS}/low/${id}`, { method: 'DELETE' });
  t.is(await fetched('low', 'device-4'), NO_PLACE, 'one device, one place');
  await update('low', { limitHwid: 2 });
  t.is(await fetched('low', 'device-4'), FULL);
});

test.serial('devices follow the client: another name, another subId, and its end', async (t) => {
  const { id } = await client('old', { limitHwid: 1 });
  await fetched('old', 'tv-in-the-room');
  await update('old', { email: 'new', subId: 'sub-new' });
  t.is((await list('new')).length, 1);
  t.is(await fetched('new', 'tv-elsewhere'), NO_PLACE);
  t.is(await fetched('new', 'tv-in-the-room'), FULL);
  await panel.get('/panel/api/clients/del/new', { method: 'POST' });
  t.is(observed.services.store.count(id), 0);
  await client('new', { limitHwid: 1 });
  t.deepEqual(await list('new'), [], 'a client with the same name and subId begins without devices');
  t.is(await fetched('new', 'tv-elsewhere'), FULL);
  t.true(await memoryMatches());
});

test.serial('without a limit the newest twenty devices are kept', async (t) => {
  await client('free');
  for (let i = 0; i < 25; i++) {
    clock.tick(1000);
    t.is(await fetched('free', `device-${100 + i}`), '200');
    if (i === 9) await list('free');
  }
  t.is((await list('free')).length, 20);
  t.is(await fetched('free'), '200', 'who has no id is not recorded');
  t.is((await list('free')).length, 20);
  await update('free', { limitHwid: 20 });
  t.is(await fetched('free', 'device-104'), NO_PLACE, 'the fifth was dropped');
  t.is(await fetched('free', 'device-105'), FULL);
  t.true(await memoryMatches());
});

test.serial('a disabled client gets no device beyond its limit', async (t) => {
  await client('off', { limitHwid: 1 });
  await fetched('off', 'device-1');
  await update('off', { enable: false });
  t.is(await fetched('off', 'device-2'), '200');
  t.is(await fetched('off'), '200');
  t.is((await list('off')).length, 1);
  await update('off', { enable: true });
  t.is(await fetched('off', 'device-2'), NO_PLACE);
  t.is(await fetched('off', 'device-1'), FULL);
});

test.serial('events report new and refused devices, each once', async (t) => {
  await client('loud', { limitHwid: 1 });
  await panel.kernel.settled();
  heard.length = 0;
  const print = (id: string) => createHash('sha256').update(id).digest('hex').slice(0, 12);
  for (let i = 0; i < 3; i++) {
    await fetched('loud', 'device-1', { headers: { 'X-Device-Model': 'M' } });
    await fetched('loud', 'device-2');
    await fetched('loud');
  }
  clock.tick(5000);
  await list('loud');
  await panel.kernel.settled();
  t.deepEqual(heard.filter((line) => line.includes('loud')).sort(), [
    `added loud ${print('device-1')} M`,
    'refused loud  noId 1',
    `refused loud ${print('device-2')} limit 1`,
  ]);
  heard.length = 0;
  await fetched('loud', 'device-1');
  clock.tick(5000);
  await list('loud');
  await panel.kernel.settled();
  t.deepEqual(heard, [], 'a known device is not new, and a refusal is reported once');
});

test.serial('a device that is dropped while it is written stays dropped', async (t) => {
  const { store } = observed.services;
  const { id } = await client('crowd');
  for (let i = 0; i < 20; i++) await fetched('crowd', `device-${100 + i}`);
  const hashes = (memory: typeof store.projection.state) => memory.of(id).map(({ hash }) => hash);
  const shown = hashes(store.projection.state);
  t.is(shown.length, 20);
  t.deepEqual(hashes(await store.projection.fresh()), shown, 'memory that is read again has what waits');
  let end: () => void = () => undefined;
  let other: Promise<void> | undefined;
  await new Promise<void>((began) => {
    other = db.write(() => {
      began();
      return new Promise<void>((resolve) => (end = resolve));
    });
  });
  const writing = store.flush();
  await fetched('crowd', 'device-120');
  end();
  await Promise.all([other, writing]);
  t.is(store.count(id), 20);
  t.true(await memoryMatches());
  t.is((await list('crowd')).length, 20);
});

test.serial('devices survive a restart, and travel with an export', async (t) => {
  await client('move', { limitHwid: 1 });
  await fetched('move', 'device-1', { headers: { 'X-Device-OS': 'iOS' } });
  const items =
    await panel.get<{ client: { email: string }; devices?: object[] }[]>('/panel/api/clients/export');
  const moved = items.filter(({ client: { email } }) => email === 'move' || email === 'eve2');
  t.like(moved.find(({ client: { email } }) => email === 'move')?.devices, [{ deviceOs: 'iOS' }]);
  t.true(
    items.every(({ devices: own }) => own === undefined || own.length > 0),
    'a client without devices has no such key',
  );
  const shown = await list('move');
  await panel.get('/panel/api/clients/bulkDel', { body: { emails: ['move', 'eve2'] } });
  const hash = 'a'.repeat(64);
  const broken = [
    { ...moved[0], client: { email: 'broken' }, devices: [{ hash: 'x', firstSeen: 0, lastSeen: 0 }] },
    { ...moved[0], client: { email: 'broken' }, devices: [{ hash, firstSeen: -1, lastSeen: 0 }] },
  ];
  const result = await panel.get<{ created: number; skipped: { code: string; reason: string }[] }>(
    '/panel/api/clients/import',
    { body: { data: JSON.stringify([...moved, ...broken]) } },
  );
  t.is(result.created, 2);
  t.deepEqual(
    result.skipped.map(({ code }) => code),
    ['DEVICES_INVALID', 'DEVICES_INVALID'],
  );
  t.true(result.skipped[0]?.reason.includes('devices[0].hash'), result.skipped[0]?.reason);
  const { id: _, ...rest } = shown[0] as Device;
  t.like((await list('move'))[0], rest);
  t.is(await fetched('move', 'device-2'), NO_PLACE);
  t.is(await fetched('move', 'device-1'), FULL);
  t.true(await memoryMatches());

  const { dataDirectory } = panel;
  const all = await Promise.all(['many', 'bob', 'free', 'move'].map(list));
  await fetched('sue', 'watch-9');
  await panel.stop();
  panel = await TestPanel.boot({
    clock,
    dataDirectory,
    plugins: [new FakeEngine().plugin, observed.plugin, listener],
  });
  t.deepEqual(await Promise.all(['many', 'bob', 'free', 'move'].map(list)), all);
  t.is((await list('sue')).length, 3, 'the stop writes the last device');
  t.is(await fetched('many', 'device-number-x'), NO_PLACE);
  t.deepEqual(panel.faults, []);
});

test.serial('without subscriptions the devices can still be listed and removed', async (t) => {
  const { dataDirectory } = panel;
  await panel.stop();
  panel = await TestPanel.boot({
    clock,
    dataDirectory,
    plugins: [new FakeEngine().plugin, observed.plugin],
    without: ['quickstart', 'sub-links', 'app-link', 'subscription'],
  });
  t.is((await list('many')).length, 7);
  await panel.get(`${HWIDS}/many`, { method: 'DELETE' });
  t.deepEqual(await list('many'), []);
  t.deepEqual(panel.faults, []);
});

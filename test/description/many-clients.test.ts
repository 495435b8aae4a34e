// Every endpoint of the section about many clients, groups and presence, with every field of its table, sent and read back.
import test from 'ava';
import { Asking } from './asking.js';
import { MANY_CLIENTS } from './clients.js';
import { openWorld } from './world.js';

const DAY = 86_400_000;
const UUID = '5783a3e7-e373-51cd-8642-c83782b807c5';

test('many clients: the section of the API description', async (t) => {
  const { engine, clock, panel, poll } = await openWorld();
  await using _ = panel;
  const first = await panel.addInbound();
  // Only it makes use of an adTag.
  const second = await panel.addInbound({ protocol: 'mtproto' });
  const asking = new Asking(panel, MANY_CLIENTS);
  const at = '/panel/api/clients';
  const ask = (path: string, body?: unknown, params: readonly string[] = []) =>
    asking.ask<Record<string, unknown>>(t, `POST ${at}/${path}`, {
      at: params,
      ...(body !== undefined && { body }),
    });
  const shown = (email: string) => panel.get<Record<string, unknown>>(`${at}/get/${email}`);
  const traffic = (email: string) => panel.get<Record<string, unknown>>(`${at}/traffic/${email}`);

  const ann = {
    ...{ email: 'ann', subId: 'sub-ann', uuid: UUID, totalGB: 5_000_000, expiryTime: clock.now() + 10 * DAY },
    ...{ enable: true, reverse: { tag: 'back' }, comment: 'paid', group: 'family', limitIp: 2, limitHwid: 3 },
    ...{ tgId: 7, flow: 'xtls-rprx-vision', reset: 30, resetDay: 0, resetMax: 5 },
  };
  const both = [first, second];
  t.like(
    await ask('bulkCreate', [
      { client: ann, inboundIds: both },
      { client: { email: 'bob' }, inboundIds: [first] },
      { client: { email: 'ann' }, inboundIds: [first] },
    ]),
    { created: 2, skipped: [{ email: 'ann' }] },
  );
  t.like(await shown('ann'), { ...ann, inboundIds: both });

  const adjust = { emails: ['ann', 'bob', 'none'], addDays: 2, addBytes: 1000 };
  const more = { flow: 'none', limitHwid: 9, adTag: '0123456789abcdef0123456789abcdef' };
  const adjusted = await ask('bulkAdjust', { ...adjust, ...more });
  t.like(adjusted, { skipped: [{ email: 'none' }] });
  t.like(await shown('ann'), {
    ...{
      expiryTime: ann.expiryTime + 2 * DAY,
      totalGB: 5_001_000,
      flow: '',
      limitHwid: 9,
      adTag: more.adTag,
    },
  });
  t.like(await shown('bob'), { expiryTime: 0, totalGB: 0, limitHwid: 9 }, 'unlimited stays unlimited');

  const emails = ['ann', 'none'];
  t.like(await ask('bulkDisable', { emails }), { changed: 1, skipped: [{ email: 'none' }] });
  t.like(await shown('ann'), { enable: false });
  t.like(await ask('bulkEnable', { emails }), { changed: 1, skipped: [{ email: 'none' }] });
  t.like(await shown('ann'), { enable: true });

  t.deepEqual(await ask('bulkDetach', { emails, inboundIds: [second] }), {
    detached: ['ann'],
    skipped: [],
    errors: ['none: client not found'],
  });
  t.like(await shown('ann'), { inboundIds: [first] });
  t.like(await ask('bulkAttach', { emails: ['ann', 'bob'], inboundIds: both }), { attached: ['ann', 'bob'] });
  t.like(await shown('bob'), { inboundIds: both });

  // Groups.
  t.deepEqual(await ask('groups/create', { name: 'work' }), { name: 'work' });
  t.deepEqual(await ask('groups/bulkAdd', { emails: ['bob', 'none'], group: 'work' }), { affected: 1 });
  const groups = () => asking.ask<object[]>(t, `GET ${at}/groups`);
  t.like(await groups(), [
    { name: 'family', clientCount: 1 },
    { name: 'work', clientCount: 1 },
  ]);
  const members = (name: string) => asking.ask<string[]>(t, `GET ${at}/groups/{name}/emails`, { at: [name] });
  t.deepEqual(await ask('groups/rename', { oldName: 'work', newName: 'at work' }), { affected: 1 });
  t.deepEqual(await members('at work'), ['bob']);
  await panel.get(`${at}/updateTraffic/bob`, { body: { upload: 1, download: 2 } });
  t.deepEqual(await ask('groups/resetTraffic', { name: 'at work' }), { name: 'at work' });
  t.like(await panel.get(`${at}/groups`), [{ name: 'at work', trafficUsed: 0 }]);
  t.deepEqual(await ask('groups/bulkRemove', { emails: ['bob'] }), { affected: 1 });
  t.like(await shown('bob'), { group: '' });
  t.deepEqual(await ask('groups/delete', { name: 'family' }), { affected: 1 });
  t.like(await shown('ann'), { group: '' });

  // Presence.
  const { id } = await panel.get<{ id: number }>(`${at}/get/ann`);
  engine.move(first, id, 100, 2000);
  await poll();
  const { panelGuid: guid } = await panel.get<{ panelGuid: string }>('/panel/api/server/status');
  t.deepEqual(await ask('onlines'), ['ann'] as never);
  t.deepEqual(await ask('onlinesByGuid'), { [guid]: ['ann'] });
  const inbound = await panel.get<{ tag: string }>(`/panel/api/inbounds/get/${first}`);
  t.deepEqual(await ask('activeInbounds'), { [guid]: [inbound.tag] });
  t.deepEqual(await ask('lastOnline'), { ann: Math.floor(clock.now() / 1000), bob: 0 });
  const timestamp = Math.floor(clock.now() / 1000);
  await panel.get('/panel/api/server/clientIps', {
    body: [{ clientEmail: 'ann', ips: [{ ip: '203.0.113.9', timestamp }], panelGuid: 'far-away' }],
  });
  t.deepEqual((await ask('clientIpsByGuid'))['far-away'], { ann: [{ ip: '203.0.113.9', timestamp }] });

  // Usage.
  const use = { upload: 10, download: 20 };
  for (const path of ['bulkResetTraffic', 'resetAllTraffics']) {
    for (const email of ['ann', 'bob']) await panel.get(`${at}/updateTraffic/${email}`, { body: use });
    await ask(path, path === 'bulkResetTraffic' ? { emails: ['ann', 'bob'] } : undefined);
    for (const email of ['ann', 'bob']) t.like(await traffic(email), { up: 0, down: 0 }, path);
  }

  // Deletion.
  await panel.addClient('spent', [first], { expiryTime: clock.now() - DAY });
  await ask('bulkEnable', { emails: ['spent'] });
  t.like(await shown('spent'), { enable: false }, 'at its limit');
  await panel.addClient('alone', [first]);
  await panel.get(`${at}/alone/detach`, { body: { inboundIds: [first] } });
  // A client without an inbound is edited like any other.
  await panel.get(`${at}/update/alone`, { body: { comment: 'waits', totalGB: 1000 } });
  t.like(await ask('bulkAdjust', { emails: ['alone'], addBytes: 500 }), { adjusted: 1 });
  t.like(await shown('alone'), { comment: 'waits', totalGB: 1500 });
  t.like(await traffic('alone'), { total: 1500 });
  t.like(await ask('delDepleted'), { deleted: 1 });
  t.like(await ask('delOrphans'), { deleted: 1 });
  await panel.get(`${at}/updateTraffic/bob`, { body: use });
  t.like(await ask('bulkDel', { emails: ['bob', 'none'], keepTraffic: true }), {
    deleted: 1,
    skipped: [{ email: 'none' }],
  });
  t.is((await panel.call(`${at}/get/bob`)).status, 404);
  await panel.addClient('bob', [first]);
  t.like(await traffic('bob'), { up: 10, down: 20 }, 'its usage was retained');
  for (const email of ['ann', 'bob'])
    await panel.get(`${at}/update/${email}`, { body: { expiryTime: 1, reset: 0 } });
  t.like(await ask('delDepleted'), { deleted: 2 });
  t.is((await panel.get<object[]>('/panel/api/inbounds/list')).length, 2, 'inbounds stay without clients');
  t.deepEqual(engine.restarts, [], 'nothing of this restarts the core');
  asking.end(t);
});

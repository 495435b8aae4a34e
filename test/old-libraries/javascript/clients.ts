// Methods of clients, under their present names.
import { type Checks, type Client, newEmail } from './world.js';

const GIB = 1024 ** 3;
const DAY = 86_400_000;

export const clients: Checks = {
  getClients: async (t, world) => {
    const { email } = await world.client({ totalGB: 5 * GIB });
    await world.use(email, 100, 200);
    const theirs = await world.call<Client[]>('getClients');
    const ours = await world.panel.get<Client[]>('/panel/api/clients/list');
    t.deepEqual(
      theirs.map((one) => [one.email, one.id, one.uuid, one.totalGB, one.enable]),
      ours.map((one) => [one.email, one.id, one.uuid, one.totalGB, one.enable]),
    );
    t.like(theirs.find((one) => one.email === email)?.traffic, { up: 100, down: 200 });
  },
  getPagedClients: async (t, world) => {
    await world.client();
    const page = await world.call<{ items: Client[]; total: number }>('getPagedClients', {
      page: 1,
      sort: 'email',
      order: 'desc',
    });
    const ours = await world.panel.get<typeof page>(
      '/panel/api/clients/list/paged?page=1&sort=email&order=desc',
    );
    t.true(ours.total > 0);
    t.is(page.total, ours.total);
    t.deepEqual(
      page.items.map((one) => one.email),
      ours.items.map((one) => one.email),
    );
  },
  getClient: async (t, world) => {
    const { email, uuid, inboundId } = await world.client({ totalGB: 7, comment: 'paid' });
    const found = await world.call<{ client: Client; inboundIds: number[] }>('getClient', email);
    t.like(found.client, { email, uuid, totalGB: 7, comment: 'paid' });
    t.deepEqual(found.inboundIds, [inboundId]);
  },
  getClientTraffic: async (t, world) => {
    const { email } = await world.client({ totalGB: 900 });
    await world.use(email, 11, 22);
    t.like(await world.call('getClientTraffic', email), { email, up: 11, down: 22, total: 900 });
  },
  getSubLinks: async (t, world) => {
    const { subId } = await world.client();
    const links = await world.call<string[]>('getSubLinks', subId);
    t.is(links.length, 1);
    t.deepEqual(links, await world.panel.get(`/panel/api/clients/subLinks/${subId}`));
  },
  getClientLinks: async (t, world) => {
    const { email, uuid } = await world.client();
    const links = await world.call<string[]>('getClientLinks', email);
    t.true(links[0]?.startsWith(`vless://${uuid}@`), links[0]);
    t.deepEqual(links, await world.panel.get(`/panel/api/clients/links/${email}`));
  },
  addModernClient: async (t, world) => {
    const inbound = await world.panel.addInbound();
    const email = newEmail();
    await world.call('addModernClient', {
      client: { email, totalGB: 2, limitIp: 3, expiryTime: 0, tgId: '', flow: '' },
      inboundIds: [inbound],
    });
    const { totalGB, limitIp, inboundIds, enable } = await world.stored(email);
    t.deepEqual(
      { totalGB, limitIp, inboundIds, enable },
      {
        totalGB: 2 * GIB,
        limitIp: 3,
        inboundIds: [inbound],
        enable: true,
      },
    );
  },
  updateModernClient: async (t, world) => {
    const before = await world.client();
    const expiryTime = Date.now() + DAY;
    await world.call('updateModernClient', before.email, {
      email: before.email,
      totalGB: 4,
      expiryTime,
      comment: 'May',
    });
    const after = await world.stored(before.email);
    t.like(after, { totalGB: 4 * GIB, expiryTime, comment: 'May', uuid: before.uuid, subId: before.subId });
  },
  deleteModernClient: async (t, world) => {
    const [gone, stays] = [await world.client(), await world.client()];
    await world.call('deleteModernClient', gone.email);
    t.true(await world.isGone(gone.email));
    t.false(await world.isGone(stays.email));
  },
  attachClientToInbounds: async (t, world) => {
    const { email, inboundId } = await world.client();
    const second = await world.panel.addInbound();
    await world.call('attachClientToInbounds', email, { inboundIds: [second] });
    t.deepEqual((await world.stored(email)).inboundIds, [inboundId, second]);
  },
  detachClientFromInbounds: async (t, world) => {
    const { email, inboundId } = await world.client();
    const second = await world.panel.addInbound();
    await world.panel.get(`/panel/api/clients/${email}/attach`, { body: { inboundIds: [second] } });
    await world.call('detachClientFromInbounds', email, { inboundIds: [inboundId] });
    t.deepEqual((await world.stored(email)).inboundIds, [second]);
  },
  resetModernClientTrafficByEmail: async (t, world) => {
    const [reset, other] = [await world.client(), await world.client()];
    for (const { email } of [reset, other]) await world.use(email, 5, 6);
    await world.call('resetModernClientTrafficByEmail', reset.email);
    t.deepEqual(await world.usage(reset.email), [0, 0]);
    t.deepEqual(await world.usage(other.email), [5, 6]);
  },
  updateModernClientTrafficByEmail: async (t, world) => {
    const { email } = await world.client();
    await world.call('updateModernClientTrafficByEmail', email, { upload: 7, download: 8 });
    t.deepEqual(await world.usage(email), [7, 8]);
  },
  resetAllModernClientTraffics: async (t, world) => {
    const { email } = await world.client();
    await world.use(email, 5, 6);
    await world.call('resetAllModernClientTraffics');
    t.deepEqual(await world.usage(email), [0, 0]);
  },
  deleteDepletedModernClients: async (t, world) => {
    const [empty, full] = [await world.client({ totalGB: 10 }), await world.client({ totalGB: 10 })];
    await world.use(full.email, 9, 9);
    await world.call('deleteDepletedModernClients');
    t.true(await world.isGone(full.email));
    t.false(await world.isGone(empty.email));
  },
  getModernClientIps: async (t, world) => {
    const { email } = await world.client();
    t.deepEqual(await world.call('getModernClientIps', email), []);
    await world.seen(email, '8.8.4.4');
    const seen = await world.call<unknown[]>('getModernClientIps', email);
    t.is(seen.length, 1);
    t.regex(String(seen[0]), /^8\.8\.4\.4(?: |$)/);
  },
  clearModernClientIps: async (t, world) => {
    const { email } = await world.client();
    await world.seen(email, '8.8.4.4');
    await world.call('clearModernClientIps', email);
    t.deepEqual(await world.panel.get(`/panel/api/clients/ips/${email}`, { method: 'POST' }), []);
  },
  addClientWithCredentials: async (t, world) => {
    const inbound = await world.panel.addInbound();
    const reply = (await world.library['addClientWithCredentials']?.(inbound, 'vless', {
      totalGB: 3,
      limitIp: 2,
    })) as unknown as { success: boolean; credentials: { id: string; email: string } };
    t.true(reply.success, JSON.stringify(reply));
    const { id, email } = reply.credentials;
    t.like(await world.stored(email), { uuid: id, totalGB: 3 * GIB, limitIp: 2, enable: true });
    t.deepEqual((await world.stored(email)).inboundIds, [inbound]);
  },
  updateClientWithCredentials: async (t, world) => {
    const before = await world.client({ comment: 'kept', totalGB: GIB });
    const reply = await world.library['updateClientWithCredentials']?.(before.uuid, before.inboundId, {
      totalGB: 6,
      limitIp: 4,
    });
    t.true(reply?.success, JSON.stringify(reply));
    const { email, uuid, subId } = before;
    t.like(await world.stored(email), { uuid, subId, comment: 'kept', totalGB: 6 * GIB, limitIp: 4 });
  },
};

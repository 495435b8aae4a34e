// Methods of inbounds, and of clients under the names and in the shapes of earlier versions.
import { randomUUID } from 'node:crypto';
import { type Checks, inboundConfig, newEmail, type World } from './world.js';

interface Inbound {
  readonly id: number;
  readonly remark: string;
  readonly port: number;
  readonly protocol: string;
  readonly enable: boolean;
  readonly tag: string;
  readonly up: number;
  readonly down: number;
  readonly settings: { readonly clients: readonly { readonly email: string; readonly id: string }[] };
}
const stored = (world: World, id: number): Promise<Inbound> =>
  world.panel.get(`/panel/api/inbounds/get/${id}`);
const list = (world: World): Promise<Inbound[]> => world.panel.get('/panel/api/inbounds/list');
const core = ({ id, remark, port, protocol, enable, tag, up, down }: Inbound) => ({
  id,
  remark,
  port,
  protocol,
  enable,
  tag,
  up,
  down,
});
/** On some versions of that panel it is JSON text. */
const settingsOf = (inbound: Inbound): Inbound['settings'] =>
  typeof inbound.settings === 'string' ? JSON.parse(inbound.settings) : inbound.settings;

export const inbounds: Checks = {
  getInbounds: async (t, world) => {
    const { email } = await world.client();
    await world.use(email, 3, 4);
    const theirs = await world.call<Inbound[]>('getInbounds');
    t.true(theirs.length > 0);
    t.deepEqual(theirs.map(core), (await list(world)).map(core));
  },
  getInbound: async (t, world) => {
    const { email, uuid, inboundId } = await world.client();
    const theirs = await world.call<Inbound>('getInbound', inboundId);
    t.deepEqual(core(theirs), core(await stored(world, inboundId)));
    t.like(settingsOf(theirs).clients[0], { email, id: uuid });
  },
  addInbound: async (t, world) => {
    const config = await inboundConfig('added');
    const { id } = await world.call<{ id: number }>('addInbound', config);
    t.like(await stored(world, id), { remark: 'added', port: config.port, protocol: 'vless', enable: true });
    const { streamSettings, sniffing } = (await stored(world, id)) as unknown as typeof config;
    t.like(streamSettings, { network: 'tcp', security: 'none' });
    t.like(sniffing, { enabled: true, destOverride: ['http', 'tls'] as const });
  },
  updateInbound: async (t, world) => {
    const { email, inboundId } = await world.client();
    const before = await stored(world, inboundId);
    await world.call('updateInbound', inboundId, { ...before, remark: 'renamed' });
    t.deepEqual(core(await stored(world, inboundId)), core({ ...before, remark: 'renamed' }));
    t.deepEqual((await world.stored(email)).inboundIds, [inboundId]);
  },
  deleteInbound: async (t, world) => {
    const [gone, stays] = [await world.panel.addInbound(), await world.panel.addInbound()];
    await world.call('deleteInbound', gone);
    const left = (await list(world)).map(({ id }) => id);
    t.deepEqual([left.includes(gone), left.includes(stays)], [false, true]);
  },
  importInbounds: async (t, world) => {
    const configs = [await inboundConfig('first'), await inboundConfig('second')];
    const replies = (await world.library['importInbounds']?.(configs)) as unknown as { success: boolean }[];
    t.deepEqual(
      replies.map(({ success }) => success),
      [true, true],
    );
    const ports = (await list(world)).map(({ port }) => port);
    for (const { port } of configs) t.true(ports.includes(port));
  },
  addClient: async (t, world) => {
    const inbound = await world.panel.addInbound();
    const [email, uuid] = [newEmail(), randomUUID()];
    const client = {
      id: uuid,
      email,
      totalGB: 500,
      expiryTime: 0,
      limitIp: 1,
      enable: true,
      tgId: '',
      flow: '',
    };
    await world.call('addClient', { id: inbound, settings: JSON.stringify({ clients: [client] }) });
    t.like(await world.stored(email), { uuid, totalGB: 500, limitIp: 1, inboundIds: [inbound] as const });
  },
  updateClient: async (t, world) => {
    const { email, uuid, subId, inboundId } = await world.client();
    const client = { id: uuid, email, totalGB: 700, limitIp: 2, enable: false, subId };
    await world.call('updateClient', uuid, {
      id: inboundId,
      settings: JSON.stringify({ clients: [client] }),
    });
    t.like(await world.stored(email), { uuid, subId, totalGB: 700, limitIp: 2, enable: false });
  },
  deleteClient: async (t, world) => {
    const [gone, stays] = [await world.client(), await world.client()];
    await world.call('deleteClient', gone.inboundId, gone.uuid);
    t.deepEqual((await stored(world, gone.inboundId)).settings.clients, []);
    t.deepEqual((await world.stored(stays.email)).inboundIds, [stays.inboundId]);
  },
  deleteClientByEmail: async (t, world) => {
    const { email, inboundId } = await world.client();
    await world.call('deleteClientByEmail', inboundId, email);
    t.deepEqual((await stored(world, inboundId)).settings.clients, []);
  },
  updateClientTraffic: async (t, world) => {
    const { email } = await world.client();
    await world.call('updateClientTraffic', email, { upload: 12, download: 34 });
    t.deepEqual(await world.usage(email), [12, 34]);
  },
  getClientTrafficsByEmail: async (t, world) => {
    const { email } = await world.client();
    await world.use(email, 1, 9);
    t.like(await world.call('getClientTrafficsByEmail', email), { email, up: 1, down: 9 });
  },
  getClientTrafficsById: async (t, world) => {
    const { email, uuid } = await world.client();
    await world.use(email, 2, 8);
    const rows = await world.call<unknown[]>('getClientTrafficsById', uuid);
    t.is(rows.length, 1);
    t.like(rows[0], { email, up: 2, down: 8 });
  },
  getClientIps: async (t, world) => {
    const { email } = await world.client();
    t.deepEqual(await world.call('getClientIps', email), []);
    await world.seen(email, '8.8.4.4');
    const addresses = await world.call<string[]>('getClientIps', email);
    t.is(addresses.length, 1);
    t.regex(String(addresses[0]), /^8\.8\.4\.4(?: |$)/);
  },
  clearClientIps: async (t, world) => {
    const { email } = await world.client();
    await world.seen(email, '8.8.4.4');
    await world.call('clearClientIps', email);
    t.deepEqual(await world.panel.get(`/panel/api/clients/ips/${email}`, { method: 'POST' }), []);
  },
  resetClientTraffic: async (t, world) => {
    const [reset, other] = [await world.client(), await world.client()];
    for (const { email } of [reset, other]) await world.use(email, 5, 6);
    await world.call('resetClientTraffic', reset.inboundId, reset.email);
    t.deepEqual(
      [await world.usage(reset.email), await world.usage(other.email)],
      [
        [0, 0],
        [5, 6],
      ],
    );
  },
  resetAllClientTraffics: async (t, world) => {
    const [reset, other] = [await world.client(), await world.client()];
    for (const { email } of [reset, other]) await world.use(email, 5, 6);
    await world.call('resetAllClientTraffics', reset.inboundId);
    t.deepEqual(
      [await world.usage(reset.email), await world.usage(other.email)],
      [
        [0, 0],
        [5, 6],
      ],
    );
  },
  resetAllTraffics: async (t, world) => {
    const { inboundId } = await world.client();
    await world.call('resetAllTraffics');
    const { up, down } = await stored(world, inboundId);
    t.deepEqual([up, down], [0, 0]);
  },
  deleteDepletedClients: async (t, world) => {
    const [here, elsewhere] = [await world.client({ totalGB: 10 }), await world.client({ totalGB: 10 })];
    for (const { email } of [here, elsewhere]) await world.use(email, 9, 9);
    await world.call('deleteDepletedClients', here.inboundId);
    t.deepEqual([await world.isGone(here.email), await world.isGone(elsewhere.email)], [true, false]);
  },
};

// Methods of the machine, the core and the settings.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { ADMIN } from '../../harness/api.js';
import { RELEASED } from '../sources.js';
import { type Checks, libraryFor, type World } from './world.js';

interface Status {
  readonly engine: { readonly state: string; readonly version: string };
  readonly xray: Status['engine'];
  readonly mem: { readonly total: number };
  readonly logicalPro: number;
  readonly cpuCores: number;
  readonly panelGuid: string;
}
const status = (world: World): Promise<Status> => world.panel.get('/panel/api/server/status');
const settings = (world: World): Promise<Record<string, unknown>> =>
  world.panel.get('/panel/api/setting/all', { method: 'POST' });
/** DER of an X25519 private key without the key itself. */
const X25519_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex');

const bytes = (base64url: string): number => Buffer.from(base64url, 'base64url').length;

async function needsBot(t: ExecutionContext, world: World, method: string): Promise<void> {
  t.like(await world.library[method]?.(), { success: false, code: 'MSG_BOT_NOT_CONNECTED' } as never);
}

export const server: Checks = {
  getServerStatus: async (t, world) => {
    const theirs = await world.call<Status>('getServerStatus');
    const ours = await status(world);
    t.is(theirs.xray.state, 'running');
    // It is measured every few seconds.
    const memory = undefined;
    t.deepEqual({ ...theirs.xray, memory }, { ...ours.engine, memory });
    t.like(theirs, {
      cpuCores: ours.cpuCores,
      logicalPro: ours.logicalPro,
      panelGuid: ours.panelGuid,
      mem: { total: ours.mem.total },
    });
  },
  getWebCertFiles: async (t, world) => {
    t.deepEqual(await world.call('getWebCertFiles'), { webCertFile: '', webKeyFile: '' });
  },
  // What it sends when a bot is connected: plugins/msg-bot/test/report.test.ts.
  createBackup: (t, world) => needsBot(t, world, 'createBackup'),
  backupToTgBot: (t, world) => needsBot(t, world, 'backupToTgBot'),
  getDb: async (t, world) => {
    const { email } = await world.client();
    const database = await world.call<string>('getDb');
    t.true(database.startsWith('SQLite format 3\0'));
    t.true(database.includes(email));
  },
  getCPUHistory: async (t, world) => {
    const theirs = await world.call<{ t: number; cpu: number }[]>('getCPUHistory', 300);
    const ours = await world.panel.get<typeof theirs>('/panel/api/server/cpuHistory/300');
    // The last point takes in a sample every two seconds.
    t.deepEqual(theirs.slice(0, -1), ours.slice(0, theirs.length - 1));
    for (const point of theirs) t.deepEqual(Object.keys(point).sort(), ['cpu', 't']);
  },
  getConfigJson: async (t, world) => {
    const { inboundId } = await world.client();
    const { tag } = await world.panel.get<{ tag: string }>(`/panel/api/inbounds/get/${inboundId}`);
    type Config = {
      inbounds: { tag: string; settings: { clients?: { email: string }[] } }[];
      outbounds: { tag: string }[];
    };
    const clientsOf = ({ inbounds }: Config) =>
      inbounds.map((one) => [one.tag, one.settings.clients?.map((client) => client.email)]);
    const theirs = await world.call<Config>('getConfigJson');
    const ours = await world.panel.get<Config>('/panel/api/server/getConfigJson');
    t.is(clientsOf(theirs).find(([name]) => name === tag)?.[1]?.length, 1);
    t.deepEqual(clientsOf(theirs), clientsOf(ours));
    t.deepEqual(
      theirs.outbounds.map((one) => one.tag),
      ours.outbounds.map((one) => one.tag),
    );
  },
  stopXrayService: async (t, world) => {
    await world.call('stopXrayService');
    t.is((await status(world)).engine.state, 'stop');
    await world.panel.get('/panel/api/server/restartEngineService', { method: 'POST' });
  },
  restartXrayService: async (t, world) => {
    await world.panel.get('/panel/api/server/stopEngineService', { method: 'POST' });
    await world.call('restartXrayService');
    t.is((await status(world)).engine.state, 'running');
  },
  getNewUUID: async (t, world) => {
    const made = await world.call<{ uuid: string }>('getNewUUID');
    t.regex(made.uuid, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  },
  getNewX25519Cert: async (t, world) => {
    const { privateKey, publicKey } = await world.call<Record<string, string>>('getNewX25519Cert');
    const der = Buffer.concat([X25519_PREFIX, Buffer.from(privateKey ?? '', 'base64url')]);
    const made = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
    t.is(made.export({ format: 'jwk' }).x, publicKey);
  },
  getNewmldsa65: async (t, world) => {
    const { seed = '', verify = '' } = await world.call<Record<string, string>>('getNewmldsa65');
    t.deepEqual([bytes(seed), bytes(verify)], [32, 1952]);
  },
  getNewmlkem768: async (t, world) => {
    const { seed = '', client = '' } = await world.call<Record<string, string>>('getNewmlkem768');
    t.deepEqual([bytes(seed), bytes(client)], [64, 1184]);
  },
  getNewVlessEnc: async (t, world) => {
    const { auths } = await world.call<{ auths: { encryption: string }[] }>('getNewVlessEnc');
    t.is(auths.length, 6);
    t.true(auths.every(({ encryption }) => encryption.startsWith('mlkem768x25519plus.')));
  },
  getXrayVersion: async (t, world) => {
    t.deepEqual(await world.call<string[]>('getXrayVersion'), [`v${RELEASED}`]);
  },
  installXray: async (t, world) => {
    await world.call('installXray', `v${RELEASED}`);
    t.like((await status(world)).engine, { state: 'running', version: RELEASED });
  },
  updateGeofile: async (t, world) => {
    const names = async (): Promise<string[]> =>
      (await world.panel.get<{ name: string }[]>('/panel/api/x/geodata/files')).map(({ name }) => name);
    await world.call('updateGeofile', 'geosite.dat');
    t.deepEqual(await names(), ['geosite.dat']);
    await world.call('updateGeofile');
    t.deepEqual(await names(), ['geoip.dat', 'geosite.dat']);
  },
  manageWarp: async (t, world) => {
    t.is(await world.call('manageWarp', 'data'), '');
    await world.call('manageWarp', 'interval', { interval: 7 });
    t.is((await settings(world))['edgetunnelUpdateInterval'], 7);
    await world.call('manageWarp', 'interval', { interval: 0 });
  },
  getXrayLogs: async (t, world) => {
    const theirs = await world.call<object[]>('getXrayLogs', 10);
    const ours = await world.panel.get<object[]>('/panel/api/server/enginelogs/10', { body: {} });
    t.deepEqual(theirs, ours);
  },
  getXrayResult: async (t, world) => {
    t.is(await world.call('getXrayResult'), '');
    await world.panel.get('/panel/api/server/stopEngineService', { method: 'POST' });
    t.is(await world.call('getXrayResult'), 'an admin stopped it');
    await world.panel.get('/panel/api/server/restartEngineService', { method: 'POST' });
  },
  getDefaultJsonConfig: async (t, world) => {
    const ours = await world.panel.get('/panel/api/setting/getDefaultJsonConfig');
    t.deepEqual(await world.call('getDefaultJsonConfig'), ours);
  },
  getXrayConfig: async (t, world) => {
    const theirs = JSON.parse(await world.call<string>('getXrayConfig')) as { xraySetting: object };
    const ours = await world.panel.get<{ engineSetting: string }>('/panel/api/engine/', { method: 'POST' });
    t.deepEqual(theirs.xraySetting, JSON.parse(ours.engineSetting));
  },
  updateXrayConfig: async (t, world) => {
    const shown = JSON.parse(await world.call<string>('getXrayConfig')) as Record<string, unknown>;
    const template = shown['xraySetting'] as { routing: object };
    const rules = [{ type: 'field', port: '25', outboundTag: 'blocked' }];
    await world.call('updateXrayConfig', { ...template, routing: { ...template.routing, rules } });
    const { engineSetting } = await world.panel.get<{ engineSetting: string }>('/panel/api/engine/', {
      method: 'POST',
    });
    t.deepEqual((JSON.parse(engineSetting) as { routing: { rules: unknown } }).routing.rules, rules);
  },
  getPanelLogs: async (t, world) => {
    const lines = await world.call<string[]>('getPanelLogs', 5);
    t.is(lines.length, 5);
    for (const line of lines) t.regex(line, /^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d (INFO|WARNING|ERROR) - /);
  },
  getOutboundsTraffic: async (t, world) => {
    const theirs = await world.call<{ tag: string }[]>('getOutboundsTraffic');
    t.deepEqual(theirs, await world.panel.get('/panel/api/engine/getOutboundsTraffic'));
  },
  resetOutboundsTraffic: async (t, world) => {
    await world.call('resetOutboundsTraffic');
    const after = await world.panel.get<{ total: number }[]>('/panel/api/engine/getOutboundsTraffic');
    t.true(after.every(({ total }) => total === 0));
  },
  testOutbound: async (t, world) => {
    const freedom = { tag: 'out', protocol: 'freedom' };
    t.like(await world.call('testOutbound', freedom), { tag: 'out', success: false, mode: 'http' });
    const closed = {
      ...freedom,
      protocol: 'socks',
      settings: { servers: [{ address: '127.0.0.1', port: 9 }] },
    };
    t.like(await world.call('testOutbound', closed, { mode: 'tcp' }), { success: false, mode: 'tcp' });
  },
  getNewEchCert: async (t, world) => {
    const made = await world.call<Record<string, string>>('getNewEchCert', 'www.example.com');
    t.true(Buffer.from(made['echConfigList'] ?? '', 'base64').includes('www.example.com'));
    t.truthy(made['echServerKeys']);
  },
  getAllSettings: async (t, world) => {
    const [theirs, ours] = [await world.call<object>('getAllSettings'), await settings(world)];
    t.like(theirs, ours);
  },
  updateSetting: async (t, world) => {
    const before = await settings(world);
    await world.call('updateSetting', { sessionMaxAge: 777 });
    const after = (await settings(world)) as Record<string, unknown>;
    t.deepEqual(after, { ...(before as object), sessionMaxAge: 777, version: after['version'] });
  },
  getDefaultSettings: async (t, world) => {
    const ours = await world.panel.get('/panel/api/setting/defaultSettings', { method: 'POST' });
    t.deepEqual(await world.call('getDefaultSettings'), ours);
  },
  updateUser: async (t, world) => {
    const next = { username: 'ada', password: 'a new and longer one' };
    // All other sessions end, so this is done with a library of its own.
    const library = libraryFor(world.panel);
    const change = (from: typeof next, to: typeof next) =>
      library['updateUser']?.(from.username, from.password, to.username, to.password);
    t.like(await change(ADMIN, next), { success: true });
    t.like(await library['getClients']?.(), { success: true }, 'it logs in again by itself');
    const login = (body: typeof next) => world.panel.call('/login', { body, anonymous: true });
    t.deepEqual([(await login(next)).status, (await login(ADMIN)).status], [200, 401]);
    t.like(await change(next, ADMIN), { success: true });
    await world.panel.login();
  },
};

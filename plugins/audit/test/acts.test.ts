// Runs on every database in test:full.
// What plugins record without a hook: acts, and changes of what has no hook of its own.
import test, { type ExecutionContext } from 'ava';
import { Secret, TOTP } from 'otpauth';
import type { Database, Log } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel, until } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import devices from '../../devices/index.js';
import type { DeviceStore } from '../../devices/device-store.js';
import type { Recorder } from '../recorder.js';
import { Trail } from '../trail.js';

interface Change {
  readonly area: string;
  readonly kind: string;
  readonly name: string;
  readonly who: string;
  readonly fields: Readonly<Record<string, readonly [unknown, unknown]>>;
}
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

async function boot(t: ExecutionContext) {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const inside = servicesOf<{ store: DeviceStore; db: Database }>(devices);
  const panel = await TestPanel.boot({ plugins: [engine.plugin, inside.plugin], clock });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const changes = (area: string) => panel.get<Change[]>(`/panel/api/x/audit/changes?limit=200&area=${area}`);
  const tick = async () => {
    clock.tick(5000);
    await panel.kernel.settled();
  };
  return { panel, engine, clock, devices: inside.services, changes, tick };
}

test('a reset of inbounds and outbounds has what was counted until then', async (t) => {
  const { panel, engine, changes, tick } = await boot(t);
  const id = await panel.addInbound();
  await panel.addClient('ada', [id]);
  const [{ id: client } = { id: 0 }] = await panel.get<{ id: number }[]>('/panel/api/clients/list');
  engine.move(id, client, 10, 200);
  engine.moveOut('direct', 1, 100);
  await tick();
  await panel.get(`/panel/api/inbounds/${id}/resetTraffic`, { method: 'POST' });
  t.deepEqual((await changes('inboundTraffic'))[0]?.fields, { up: [10, 0], down: [200, 0] });
  engine.move(id, client, 1, 2);
  await tick();
  await panel.get('/panel/api/inbounds/resetAllTraffics', { method: 'POST' });
  t.deepEqual((await changes('inboundTraffic'))[0]?.fields, { up: [1, 0], down: [2, 0] });
  await panel.get('/panel/api/clients/resetTraffic/ada', { method: 'POST' });
  t.deepEqual((await changes('client'))[0]?.fields['down'], [202, 0]);
  await panel.get('/panel/api/engine/resetOutboundsTraffic', { body: { tag: 'direct' } });
  t.like((await changes('outboundTraffic'))[0], { name: 'direct', fields: { up: [1, 0], down: [100, 0] } });
  engine.outboundTags = [];
  engine.moveOut('direct', 1, 1);
  await tick();
  await panel.get('/panel/api/x/outbound-traffic/prune', { method: 'POST' });
  t.like((await changes('outboundTraffic'))[0], { name: 'direct', kind: 'deleted' });
});

test('devices and addresses that an admin forgets', async (t) => {
  const { panel, devices, changes } = await boot(t);
  await panel.addClient('ada', [await panel.addInbound()]);
  const [{ id = 0 } = {}] = await panel.get<{ id: number }[]>('/panel/api/clients/list');
  const { store, db } = devices;
  const device = { clientId: id, userAgent: 'app', deviceOs: '', osVersion: '', deviceModel: '' };
  const rows = ['a', 'b'].map((hash) => ({ ...device, hash: hash.repeat(64), firstSeen: 1, lastSeen: 2 }));
  await db.write((tx) => store.add(tx, rows));
  const [one] = await panel.get<{ id: number }[]>('/panel/api/clients/hwids/ada', { method: 'POST' });
  await panel.get(`/panel/api/clients/hwids/ada/${one?.id}`, { method: 'DELETE' });
  await panel.get('/panel/api/clients/hwids/ada', { method: 'DELETE' });
  t.is((await changes('device')).length, 2);
  t.like((await changes('device'))[0], { name: 'ada', kind: 'deleted', who: 'admin' });
  await panel.get('/panel/api/clients/clearIps/ada', { method: 'POST' });
  t.like((await changes('addresses'))[0], { name: 'ada', kind: 'deleted' });
});

test('what an admin says of a list of outbounds, but for its address', async (t) => {
  const { panel, changes } = await boot(t);
  const PATH = '/panel/api/engine/outbound-subs';
  const url = (key: string) => `https://lists.example/hidden-${key}`;
  const { id } = await panel.get<{ id: number }>(PATH, { body: { url: url('one'), remark: 'far' } });
  await panel.get(`${PATH}/${id}`, { body: { url: url('two'), updateInterval: 7200 } });
  await panel.get(`${PATH}/${id}/del`, { method: 'POST' });
  const recorded = (await changes('outboundSub')).toReversed();
  t.deepEqual(
    recorded.map(({ kind, name, who }) => [kind, name, who]),
    ['added', 'updated', 'deleted'].map((kind) => [kind, 'far', 'admin']),
  );
  t.deepEqual(recorded[1]?.fields['url'], ['(secret)', '(secret)']);
  t.is(recorded[1]?.fields['updateInterval']?.[1], 7200);
  t.false(JSON.stringify(recorded).includes('hidden-'));
});

test('sessions that an admin ends, and recovery codes that are made again', async (t) => {
  const { panel, clock, changes } = await boot(t);
  const code = (): string => {
    clock.tick(30_000);
    return TOTP.generate({ secret: Secret.fromBase32(SECRET), timestamp: clock.now() });
  };
  const own = await panel.get<{ id: string; current: boolean }[]>('/panel/api/access/sessions');
  await panel.login();
  const other = own.find(({ current }) => current)?.id;
  await panel.get(`/panel/api/access/sessions/revoke/${other}`, { method: 'POST' });
  t.like((await changes('session'))[0], { name: 'revoke', kind: 'done', fields: { admin: [null, 'admin'] } });
  await panel.get('/panel/api/access/sessions/revokeOthers', { method: 'POST' });
  t.like((await changes('session'))[0], { name: 'revokeOthers', kind: 'done' });
  const on = { twoFactorEnable: true, twoFactorToken: SECRET, twoFactorCode: code() };
  await panel.get('/panel/api/setting/update', { body: on });
  await panel.get('/panel/api/access/recoveryCodes/renew', { body: { twoFactorCode: code() } });
  const renewed = await changes('recoveryCodes');
  t.is(renewed.length, 2, 'with two-factor, and again');
  t.deepEqual(renewed[0]?.fields, { secret: ['(secret)', '(secret)'] });
});

test('an act waits two seconds for its entry at most, and is logged where it cannot have one', async (t) => {
  const lines: object[] = [];
  const log = { error: (_: string, fields: object) => void lines.push(fields) } as unknown as Log;
  const who = { kind: 'session', name: 'ada', ip: '192.0.2.7' };
  const failing = { write: () => Promise.reject(new Error('disk full')) } as unknown as Database;
  await new Trail({ db: failing, log, recorder: {} as Recorder }).act('core', who, { name: 'restart' });
  t.like(lines[0], { area: 'core', act: 'restart', who: 'ada', ip: '192.0.2.7', reason: 'disk full' });
  const hanging = { write: () => new Promise(() => undefined) } as unknown as Database;
  const begun = Date.now();
  await new Trail({ db: hanging, log, recorder: {} as Recorder }).act('core', who, { name: 'restart' });
  const took = Date.now() - begun;
  t.true(took >= 1900 && took < 4000, `${took} ms`);
});

test('a download is recorded before it is sent', async (t) => {
  const { panel, changes } = await boot(t);
  for (const path of ['clients/export', 'server/getDb']) await panel.call(`/panel/api/${path}`);
  await until(async () => (await changes('download')).length === 2, 'both are recorded');
  t.deepEqual(
    (await changes('download')).map(({ name, who }) => [name, who]),
    [
      ['database', 'admin'],
      ['clients', 'admin'],
    ],
  );
});

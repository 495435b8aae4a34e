// Through a real tunnel: users of a panel with a real core reach a server by the outbound that is applied, and the change
// to another device cuts nobody who goes another way.
import test from 'ava';
import { ownIPv4 } from '../../engine/xray/test/traffic.js';
import { connect, MIB, openPanel, openServer } from '../../../test/engine/user.js';
import { type FarEnd, openFarEnd } from '../../../test/engine/wireguard-far-end.js';
import { until } from '../../../test/harness/until.js';
import type { JsonObject } from '../../engine/contract.js';
import { openService } from './tunnel-panel.js';

type Template = { outbounds: JsonObject[]; routing: { rules: JsonObject[] } };
const ENGINE = '/panel/api/engine';

test('a user is led through the tunnel, and through the next one after a rotation, while a download goes on', async (t) => {
  const api = openService();
  // The far end must know the key of the device, so it comes up when that is registered.
  const farEnds: FarEnd[] = [];
  api.instead.set('POST /reg', async ({ key }) => {
    const v4 = `172.16.0.${2 + farEnds.length}`;
    const farEnd = await openFarEnd(t, {
      peer: String(key),
      addresses: [`${v4}/32`, '2606:4700:110:8a36::2/128'],
    });
    farEnds.push(farEnd);
    api.farEnd = { publicKey: farEnd.publicKey, endpoint: farEnd.endpoint, v4 };
    return undefined;
  });
  const panel = await openPanel(t);
  // Loopback cannot be reached through WireGuard.
  const [tunnelled, direct] = [await openServer(t, { host: ownIPv4() }), await openServer(t)];
  const inbound = await panel.addInbound();
  await panel.addClient('a', [inbound]);
  const [user, other] = [await connect(t, panel, 'a', tunnelled), await connect(t, panel, 'a', direct)];
  const core = await panel.corePid();
  const act = (path: string) => panel.call(path, { method: 'POST' });

  t.is((await act(`${ENGINE}/edgetunnel/reg`)).status, 200);
  const applied = await act('/panel/api/x/edgetunnel/apply');
  t.is(applied.status, 200, applied.text);
  t.like(applied.body.obj as object, { tag: 'warp', endpoint: farEnds[0]?.endpoint });
  const { engineSetting } = await panel.get<{ engineSetting: string }>(`${ENGINE}/`, { method: 'POST' });
  const template = JSON.parse(engineSetting) as Template;
  const rule = { type: 'field', port: String(tunnelled.port), outboundTag: 'warp' };
  template.routing.rules.push(rule);
  await panel.get(`${ENGINE}/update`, { body: { engineSetting: template } });

  t.is(await user.download(MIB), MIB);
  const through = () => farEnds.map((farEnd) => farEnd.connections(tunnelled.port));
  t.deepEqual(through(), [1]);

  const transfer = other.start(6 * MIB, MIB);
  await until(() => transfer.soFar > 0, 'the other download has begun');
  const rotated = await act(`${ENGINE}/edgetunnel/changeIp`);
  t.is(rotated.status, 200, rotated.text);
  t.is(await user.download(MIB), MIB);
  t.deepEqual(through(), [1, 1], 'the next connection goes through the other tunnel');
  t.deepEqual(
    farEnds.map((farEnd) => farEnd.connections(direct.port)),
    [0, 0],
  );
  t.true(transfer.soFar < 6 * MIB, 'the other download runs all the while');
  t.is(await transfer.ended, 6 * MIB);
  t.is(await panel.corePid(), core, 'the core was not restarted');
  await until(() => api.devices.size === 1, 'the previous device is deleted');
  t.true(api.devices.has('device-2'));

  // A rule leads to the outbound, so it stays while the rule does.
  const after = JSON.parse(
    (await panel.get<{ engineSetting: string }>(`${ENGINE}/`, { method: 'POST' })).engineSetting,
  ) as Template;
  const without = { ...after, outbounds: after.outbounds.filter(({ tag }) => tag !== 'warp') };
  t.is((await panel.call(`${ENGINE}/update`, { body: { engineSetting: without } })).status, 422);
  await act(`${ENGINE}/edgetunnel/del`);
  t.is(await user.download(MIB), MIB, 'what an outbound uses is not taken away');
  const gone = { ...without, routing: { ...after.routing, rules: [] } };
  t.is((await panel.call(`${ENGINE}/update`, { body: { engineSetting: gone } })).status, 200);
  await act('/panel/api/system/jobs/edgetunnel/forget');
  t.is(api.devices.size, 0);
  t.is(await user.download(MIB), MIB);
  t.deepEqual(through(), [1, 2], 'it goes directly now');
});

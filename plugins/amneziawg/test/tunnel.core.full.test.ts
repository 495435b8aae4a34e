// Real tunnels through network namespaces: amneziawg-go on both ends, bytes through them.
import type { PanelProcess } from '../../../test/harness/panel-process.js';
import { testUnless } from '../../../test/harness/left-out.js';
import { FarEnd, linkOf } from './far-end.js';
import { whyNoTunnels } from './needs.js';
import { LAN, PUBLIC, SERVER, World } from './world.js';

const testTunnel = testUnless(await whyNoTunnels());
const MIB = 1024 * 1024;

interface Inbound {
  readonly id: number;
  readonly state: string;
  readonly settings: { readonly server: Record<string, unknown> };
}

export const addTunnel = async (
  panel: PanelProcess,
  fields: Record<string, unknown> = {},
): Promise<Inbound> => {
  const { id } = await panel.get<{ id: number }>('/panel/api/inbounds/add', {
    body: { protocol: 'amneziawg', port: 51820, remark: 'tunnel', ...fields },
  });
  return panel.get<Inbound>(`/panel/api/inbounds/get/${id}`);
};
const stateOf = async (panel: PanelProcess, id: number): Promise<string> =>
  (await panel.get<Inbound>(`/panel/api/inbounds/get/${id}`)).state;
const untilRunning = (panel: PanelProcess, id: number) =>
  panel.until(async () => (await stateOf(panel, id)) === 'running', 'the inbound runs');

interface Got {
  readonly bytes: number;
  readonly error: string;
  readonly text: string;
}

testTunnel('bytes go through the tunnel, and are counted', async (t) => {
  const world = await World.make(t);
  await world.end('net', ['serve', 8080]);
  const panel = await world.panel();
  t.teardown(() => panel.kill('SIGKILL'));
  const { id } = await addTunnel(panel);
  await panel.addClient('ann', [id]);
  await untilRunning(panel, id);
  await FarEnd.start(world, await world.addClient(1), await linkOf(panel, 'ann'));
  const got = await world.ask<Got>('c1', ['get', PUBLIC, 8080, 3 * MIB]);
  t.deepEqual([got.bytes, got.error], [3 * MIB, '']);
  t.is((await world.ask<Got>('c1', ['get', PUBLIC, 8080, -1])).text, `::ffff:${SERVER}`, 'translated');
  t.is((await world.ask<Got>('c1', ['get', LAN, 8080, 1, 1500])).bytes, 0);
});

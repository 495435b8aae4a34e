// Plans of a plugin: what is wrong with one is its fault, and its inbounds say so.
import test from 'ava';
import type { InstancePlan } from '../contract.js';
import { World } from './world.js';

const plan = (more: Partial<InstancePlan>): InstancePlan => ({
  name: 'in-1',
  inboundIds: [1],
  process: () => ({ args: [] }),
  ...more,
});

test('a plan that cannot be is refused, and the next one is taken', async (t) => {
  let plans: unknown = [];
  await using world = await World.open({ sidecar: { plan: () => plans as InstancePlan[] } });
  const save = async (): Promise<string> => {
    const inbound = await world.panel.get<object>(`/panel/api/inbounds/get/${world.inboundId}`);
    await world.panel.get(`/panel/api/inbounds/update/${world.inboundId}`, { body: { ...inbound } });
    return world.state();
  };
  for (const bad of [
    {},
    [plan({ name: '../x' })],
    [plan({ name: 'A' })],
    [plan({}), plan({ inboundIds: [] })],
    [plan({ inboundIds: [1, 1] })],
    [plan({ inboundIds: [77] })],
    [plan({}), plan({ name: 'in-2' })],
    [plan({ process: 7 as never })],
    [plan({ ports: ['api', 'api'] })],
    [plan({ nftTables: ['filter'] })],
    [plan({ nftTables: Array.from({ length: 17 }, (_, i) => `weir_${i}`) })],
  ]) {
    plans = bad;
    t.regex(await save(), /^not running: the plugin fake-sidecar failed/, JSON.stringify(bad));
  }
  t.is(world.panel.faults.length, 11);
  plans = [];
  t.regex(await save(), /^not running: it is being started/);
});

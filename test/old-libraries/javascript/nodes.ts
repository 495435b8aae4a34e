// Methods of nodes. The node is disabled: what a real one does is tested by the plugin nodes.
import type { Checks, World } from './world.js';

interface Shown {
  readonly id: number;
  readonly name: string;
  readonly remark: string;
  readonly enable: boolean;
}
let added = 0;
const body = () => ({
  name: `node ${++added}`,
  remark: 'first',
  scheme: 'http',
  address: '127.0.0.1',
  port: 1,
  basePath: '/',
  apiToken: 'token',
  enable: false,
  allowPrivateAddress: true,
});
const list = (world: World): Promise<Shown[]> => world.panel.get('/panel/api/nodes/list');
async function node(world: World): Promise<Shown> {
  const { name } = body();
  await world.panel.get('/panel/api/nodes/add', { body: { ...body(), name } });
  return (await list(world)).find((one) => one.name === name) as Shown;
}

export const nodes: Checks = {
  addNode: async (t, world) => {
    const sent = body();
    await world.call('addNode', sent);
    t.true((await list(world)).some(({ name }) => name === sent.name));
  },
  getNodes: async (t, world) => {
    const { name } = await node(world);
    t.true((await world.call<Shown[]>('getNodes')).some((one) => one.name === name));
  },
  getNode: async (t, world) => {
    const { id, name } = await node(world);
    t.is((await world.call<Shown>('getNode', id)).name, name);
  },
  updateNode: async (t, world) => {
    const { id, name } = await node(world);
    await world.call('updateNode', id, { ...body(), name, remark: 'second' });
    t.is((await list(world)).find((one) => one.id === id)?.remark, 'second');
  },
  setNodeEnable: async (t, world) => {
    const { id } = await node(world);
    await world.call('setNodeEnable', id, true);
    t.true((await list(world)).find((one) => one.id === id)?.enable);
    await world.call('setNodeEnable', id, false);
    t.false((await list(world)).find((one) => one.id === id)?.enable);
  },
  testNode: async (t, world) => {
    const { status, error } = await world.call<{ status: string; error: string }>('testNode', body());
    t.is(status, 'offline');
    t.regex(error, /nothing listens/);
  },
  probeNode: async (t, world) => {
    const { id } = await node(world);
    t.is((await world.call<{ status: string }>('probeNode', id)).status, 'offline');
  },
  getNodeHistory: async (t, world) => {
    const { id } = await node(world);
    t.deepEqual(await world.call('getNodeHistory', id, 'cpu', 60), []);
  },
  deleteNode: async (t, world) => {
    const { id } = await node(world);
    await world.call('deleteNode', id);
    t.false((await list(world)).some((one) => one.id === id));
  },
};

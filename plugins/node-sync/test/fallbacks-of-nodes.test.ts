// Fallbacks whose master runs on a node: its core has them; over two machines they are refused. Links of such inbounds.
import test from 'ava';
import { freePort, selfSigned, until } from '../../../test/harness/index.js';
import { adopt, adoption, addSite, compare, inboundOf, type Site } from './adoption-world.js';
import { SyncWorld } from './world.js';

const { cert, key } = selfSigned();
const streamSettings = {
  network: 'tcp',
  security: 'tls',
  tlsSettings: { certificates: [{ certificate: cert.split('\n'), key: key.split('\n') }] },
};
interface Fallback {
  readonly childId: number;
  readonly dest: string;
  readonly path: string;
}
const inCore = ({ engine }: Site, tag: string): unknown => {
  const config = engine.configs.find((one) => one['tag'] === tag) as { settings?: { fallbacks?: unknown } };
  return config?.settings?.fallbacks;
};
const at = (id: number) => `/panel/api/inbounds/${id}/fallbacks`;

test.serial(
  'fallbacks reach the core of the node, follow their child, and stay on one machine',
  async (t) => {
    const world = await SyncWorld.start(t);
    const [one, two] = [await world.node('one'), await world.node('two')];
    const { panel } = world.central;
    const port = await freePort();
    const ws = { network: 'ws', security: 'none', wsSettings: { path: '/child' } };
    const child = await panel.addInbound({ tag: 'child', nodeId: one.id, port, streamSettings: ws });
    const master = await panel.addInbound({
      tag: 'master',
      nodeId: one.id,
      protocol: 'trojan',
      listen: '',
      streamSettings,
    });
    const [far, here] = [await panel.addInbound({ nodeId: two.id }), await panel.addInbound()];
    await panel.get(at(master), {
      body: { fallbacks: [{ childId: child, path: '/child' }, { dest: 'example.com:80' }] },
    });
    const expected = (of: number) => [
      { dest: `127.0.0.1:${of}`, path: '/child' },
      { dest: 'example.com:80' },
    ];
    t.deepEqual(inCore(one, 'master'), expected(port), 'before the reply');
    const other = await freePort();
    await panel.get(`/panel/api/inbounds/update/${child}`, { body: { port: other } });
    await until(
      () => JSON.stringify(inCore(one, 'master')) === JSON.stringify(expected(other)),
      'it follows',
    );
    for (const childId of [far, here]) {
      const { status, body } = await panel.call(at(master), { body: { fallbacks: [{ childId }] } });
      t.is(status, 409);
      t.regex(body.msg, /another machine runs inbound \d+; a fallback leads to inbounds of its own machine/);
    }
    // The child's link leads to its master on the node.
    await panel.addClient('ann', [child]);
    const [link] = await panel.get<string[]>('/panel/api/clients/links/ann');
    const { hostname, port: linked, searchParams } = new URL(String(link));
    t.deepEqual([hostname, linked], ['127.0.0.1', String((await inboundOf(panel, 'master')).port)]);
    t.is(searchParams.get('security'), 'tls');
    // What the admin of the node does to them is put back; they go with their child.
    const there = await inboundOf(one.panel, 'master');
    await one.panel.get(at(there.id), { body: { fallbacks: [] } });
    t.is(inCore(one, 'master'), undefined);
    await compare(panel, one.id);
    t.deepEqual(inCore(one, 'master'), expected(other));
    await panel.get(`/panel/api/inbounds/del/${child}`, { body: {} });
    t.deepEqual(inCore(one, 'master'), [{ dest: 'example.com:80' }]);
    await compare(panel, one.id);
    t.deepEqual(inCore(one, 'master'), [{ dest: 'example.com:80' }]);
    t.deepEqual([...panel.faults, ...one.panel.faults], []);
  },
);

test.serial(
  'fallbacks of adopted inbounds come along, also below a node, and those that cannot be stay there',
  async (t) => {
    const world = await SyncWorld.start(t);
    const [middle, low] = [await world.site(), await world.site()];
    const { panel } = world.central;
    const lowId = await addSite(middle.panel, 'low', low, { address: 'localhost' });
    const make = async (tag: string, nodeId?: number) => {
      const own = nodeId === undefined ? {} : { nodeId };
      const child = await middle.panel.addInbound({ ...own, tag: `${tag}-child` });
      const master = await middle.panel.addInbound({
        ...own,
        tag,
        protocol: 'trojan',
        listen: '',
        streamSettings,
      });
      await middle.panel.get(at(master), { body: { fallbacks: [{ childId: child, path: '/x' }] } });
      return (await inboundOf(middle.panel, `${tag}-child`)).port;
    };
    const [deep, near, lone] = [await make('deep', lowId), await make('near'), await make('lone')];
    const tags = ['deep', 'deep-child', 'near', 'near-child', 'lone'];
    const id = await addSite(panel, 'middle', middle, { inboundSyncMode: 'selected', inboundTags: tags });
    await until(async () => (await adoption(panel, id)).adopted.length === 5, 'all that are selected');
    await until(
      async () => (await adoption(panel, id)).adopted.every(({ isDone }) => isDone),
      'they are done',
    );
    await until(async () => (await world.pending(id)) === 0, 'the node knows');
    const dest = (port: number) => [{ dest: `127.0.0.1:${port}`, path: '/x' }];
    t.deepEqual(
      [inCore(low, 'deep'), inCore(middle, 'near'), inCore(middle, 'lone')],
      [dest(deep), dest(near), dest(lone)],
    );
    for (const tag of ['deep', 'near']) {
      const [fallback] = await panel.get<Fallback[]>(at((await inboundOf(panel, tag)).id));
      t.is(fallback?.childId, (await inboundOf(panel, `${tag}-child`)).id);
    }
    // Changed here, they change at the bottom.
    const master = (await inboundOf(panel, 'deep')).id;
    const childId = (await inboundOf(panel, 'deep-child')).id;
    await panel.get(at(master), { body: { fallbacks: [{ childId, path: '/y' }] } });
    await until(() => JSON.stringify(inCore(low, 'deep')).includes('/y'), 'the core below has it');
    const { status } = await panel.call(at(master), {
      body: { fallbacks: [{ childId: (await inboundOf(panel, 'near-child')).id }] },
    });
    t.is(status, 409, 'the machine below is another one than the node');
    // An address of its own, and that of its listener, as the inbound says.
    const { id: farId } = await inboundOf(panel, 'deep');
    await panel.addClient('ann', [farId]);
    const hostOf = async () =>
      new URL((await panel.get<string[]>('/panel/api/clients/links/ann'))[0] ?? '').hostname;
    t.is(await hostOf(), 'localhost');
    const share = { shareAddrStrategy: 'custom', shareAddr: 'own.example' };
    await panel.get(`/panel/api/inbounds/update/${farId}`, { body: share });
    t.is(await hostOf(), 'own.example');
    await panel.get(`/panel/api/inbounds/update/${farId}`, {
      body: { shareAddrStrategy: 'listen', listen: '127.0.0.9' },
    });
    t.is(await hostOf(), 'localhost', 'a loopback address leads nowhere');
    await panel.get(`/panel/api/inbounds/update/${farId}`, { body: { listen: '192.0.2.7' } });
    t.is(await hostOf(), '192.0.2.7');
    await panel.get(`/panel/api/inbounds/update/${farId}`, { body: { shareAddrStrategy: 'node' } });
    // The node knows the machine below by another address now.
    await middle.panel.get(`/panel/api/nodes/update/${lowId}`, { body: { address: '127.0.0.1' } });
    await compare(panel, id);
    t.is(await hostOf(), '127.0.0.1');
    await adopt(panel, id);
    // A child that is given back goes on, behind its master that is not.
    const given = (await inboundOf(panel, 'near-child')).id;
    await panel.get(`/panel/api/x/node-sync/${id}/release`, { body: { inboundIds: [given] } });
    await until(async () => (await world.pending(id)) === 0, 'the node knows');
    t.deepEqual(inCore(middle, 'near'), dest(near));
    const [kept] = await panel.get<Fallback[]>(at((await inboundOf(panel, 'near')).id));
    t.like(kept, { childId: 0, dest: `127.0.0.1:${near}`, path: '/x' });
    await compare(panel, id);
    t.deepEqual(inCore(middle, 'near'), dest(near));
    t.deepEqual([...panel.faults, ...middle.panel.faults, ...low.panel.faults], []);
  },
);

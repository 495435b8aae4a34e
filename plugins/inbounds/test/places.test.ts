// Inbounds of nodes: stored, shown and linked here, and run elsewhere.
import test from 'ava';
import { FakeEngine, freePort, refused, TestPanel } from '../../../test/harness/index.js';
import { StandInNodes } from '../../../test/harness/stand-in-nodes.js';
import { overlaps } from '../ports/listening.js';

const API = '/panel/api/inbounds';
const FAR = { guid: 'far-guid', name: 'far', address: 'far.example' };

interface Shown {
  readonly id: number;
  readonly tag: string;
  readonly nodeId: number | null;
  readonly originNodeGuid: string;
  readonly up: number;
  readonly settings: Record<string, unknown>;
}

async function open() {
  const engine = new FakeEngine();
  const nodes = new StandInNodes([7, FAR], [8, { guid: 'other', name: 'other', address: '' }]);
  const panel = await TestPanel.boot({ plugins: [engine.plugin, nodes.plugin] });
  const call = (path: string, body: object) => panel.call<Shown>(`${API}/${path}`, { body });
  const add = async (body: object): Promise<Shown> => {
    const answer = await call('add', { protocol: 'vless', listen: '127.0.0.1', ...body });
    if (!answer.body.success) throw new Error(answer.text);
    return answer.body.obj;
  };
  return { engine, nodes, panel, call, add, get: (id: number) => panel.get<Shown>(`${API}/get/${id}`) };
}

test('an inbound of a node is shown with it, and the core gets only local ones', async (t) => {
  const { engine, panel, add } = await open();
  await using _ = panel;
  const port = await freePort();
  const here = await add({ port });
  const there = await add({ port, nodeId: 7, listen: '' });
  t.like(there, { nodeId: 7, originNodeGuid: 'far-guid', tag: `n7-in-${port}-tcp` });
  t.is(here.nodeId, null);
  t.not(here.originNodeGuid, 'far-guid');
  t.deepEqual(engine.inbounds, [here.tag]);
  const options = await panel.get<{ id: number; nodeId: number; nodeAddress: string }[]>(`${API}/options`);
  t.deepEqual(
    options.map(({ nodeId, nodeAddress }) => [nodeId, nodeAddress]),
    [
      [null, ''],
      [7, 'far.example'],
    ],
  );
  await panel.addClient('ada', [here.id, there.id]);
  t.deepEqual([...engine.users.keys()], [`i${here.id}.c1`]);
  const links = await panel.get<string[]>('/panel/api/clients/links/ada');
  t.true(
    links.some((link) => link.includes(`@far.example:${port}`)),
    links.join(' '),
  );
});

test('an unknown node is refused by name, and nothing changes', async (t) => {
  const { panel, add } = await open();
  await using _ = panel;
  const port = await freePort();
  const there = await add({ port, nodeId: 7 });
  const unknown = { status: 422, code: 'INBOUNDS_UNKNOWN_NODE', field: 'nodeId', says: 'there is no node 9' };
  await refused(t, panel, `${API}/add`, { body: { protocol: 'vless', port, nodeId: 9 } }, unknown);
  await refused(t, panel, `${API}/update/${there.id}`, { body: { nodeId: 9 } }, unknown);
  for (const nodeId of [-1, 1.5, 'x', 2 ** 53, [7], {}])
    await refused(
      t,
      panel,
      `${API}/update/${there.id}`,
      { body: { nodeId } },
      { status: 400, code: 'KERNEL_INVALID', field: 'nodeId' },
    );
});

test('0, blank and a missing nodeId leave an inbound where it is', async (t) => {
  const { panel, add, call, get } = await open();
  await using _ = panel;
  const { id } = await add({ port: await freePort(), nodeId: 7 });
  for (const body of [{ nodeId: 0 }, { nodeId: '' }, { remark: 'x' }, { nodeId: 7 }]) {
    t.true((await call(`update/${id}`, body)).body.success);
    t.is((await get(id)).nodeId, 7, JSON.stringify(body));
  }
  const form = await panel.call(`${API}/update/${id}`, {
    rawBody: 'nodeId=7&remark=form',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  t.true(form.body.success, form.text);
  t.like(await get(id), { nodeId: 7, remark: 'form' });
});

test('a port is taken on one machine only', async (t) => {
  const { panel, add, call } = await open();
  await using _ = panel;
  const port = await freePort();
  await add({ port });
  const there = await add({ port, nodeId: 7 });
  await add({ port, nodeId: 8 });
  const taken = { status: 409, code: 'INBOUNDS_PORT_TAKEN', field: 'port' };
  await refused(t, panel, `${API}/add`, { body: { protocol: 'vless', port, nodeId: 7 } }, taken);
  await refused(t, panel, `${API}/update/${there.id}`, { body: { nodeId: 8 } }, taken);
  await refused(
    t,
    panel,
    `${API}/update/${there.id}`,
    { body: { nodeId: null, listen: '127.0.0.1' } },
    taken,
  );
  // The panel's own port is free on a node.
  const own = Number(new URL(panel.url).port);
  t.true((await call('add', { protocol: 'vless', port: own, nodeId: 7 })).body.success);
});

test('a move takes an inbound out of the core and puts it back, with its counters', async (t) => {
  const { engine, panel, add, call, get } = await open();
  await using _ = panel;
  const { id, tag } = await add({ port: await freePort() });
  await panel.addClient('ada', [id]);
  t.deepEqual([...engine.users.keys()], [`i${id}.c1`]);
  const moved = await call(`update/${id}`, { nodeId: 7 });
  t.like(moved.body.obj, { nodeId: 7, originNodeGuid: 'far-guid', tag: `n7-${tag}` });
  t.deepEqual(engine.inbounds, []);
  const back = await call(`update/${id}`, { nodeId: null });
  t.like(back.body.obj, { nodeId: null, tag });
  t.deepEqual(engine.inbounds, [tag]);
  t.is((await get(id)).up, 0);
});

test('inbounds are in the way of those of their own machine only, also of one below a node', (t) => {
  const at = (nodeId: number | null, originGuid = '') => ({ listen: '', port: 443, nodeId, originGuid });
  const machines = [at(null), at(7), at(7, 'below'), at(7, 'beside'), at(8)];
  for (const one of machines)
    for (const other of machines) t.is(overlaps(one, other), one === other, JSON.stringify([one, other]));
  t.true(overlaps(at(7, 'below'), { ...at(7, 'below'), listen: '192.0.2.1' }));
});

// What a node may say of its records, and changes that wait for an obstacle to end.
import test from 'ava';
import { until } from '../../../test/harness/index.js';
import { digestOf, digestOfAll } from '../../node-agent/contract.js';
import { FalseNode } from './false-node.js';
import { client, emails, SyncWorld } from './world.js';

test('records that cannot be, or belong to another bucket, change nothing; versions beyond reach neither', async (t) => {
  const world = await SyncWorld.start(t);
  const { panel } = world.central;
  const far = await FalseNode.start(t);
  const nodeId = await far.join(panel, 'far');
  const inboundId = await panel.addInbound({ nodeId });
  await panel.addClient('ann', [inboundId]);
  await until(async () => (await world.pending(nodeId)) === 0, 'all is sent');
  const problem = async () =>
    (await panel.get<{ problem: string }[]>('/panel/api/x/node-sync')).map((one) => one.problem).join();
  far.replies.set('/state', () => ({ digest: 'other' }));
  const digests = Array.from({ length: 256 }, () => digestOf([]));
  far.replies.set('/buckets', () => ({ digests }));
  const sent = far.applied.length;
  for (const record of [
    { kind: 'client', id: 0, version: 1, state: 'ok' },
    { kind: 'client', id: 1, version: 2 ** 53 - 1, state: 'ok' },
    { kind: 'client', id: 1, version: -1, state: 'ok' },
    { kind: 'client', id: 1.5, version: 1, state: 'ok' },
    { kind: 'client', id: 700, version: 1, state: 'ok' },
  ]) {
    far.replies.set('/records', () => ({ records: [record], next: '' }));
    await world.reconcile(nodeId);
    t.regex(await problem(), /cannot be read|another bucket/, JSON.stringify(record));
  }
  t.is(far.applied.length, sent, 'nothing was sent because of it');
  // It says of every version that it has a newer one: not for ever.
  far.replies.set('/apply', (body) => ({
    results: (JSON.parse(body) as { changes: { version: number }[] }).changes.map((change) => ({
      ...change,
      ok: true,
      newest: change.version + 1,
    })),
  }));
  far.asked.length = 0;
  await panel.call('/panel/api/clients/update/ann', { body: { comment: 'x' } });
  t.true(far.asked.filter((path) => path.endsWith('/apply')).length < 10);
  t.regex(await problem(), /newer one/);
  far.replies.delete('/apply');
  await panel.call('/panel/api/clients/update/ann', { body: { comment: 'y' } });
  // Now and then, as after backups, that is in order, however often in its life.
  for (let i = 0; i < 3; i++) {
    let newer = 2;
    far.replies.set('/apply', (body) => {
      const { changes } = JSON.parse(body) as { changes: { version: number }[] };
      const more = newer-- > 0 ? 1 : 0;
      return {
        results: changes.map((change) => ({ ...change, ok: true, newest: change.version + more })),
      };
    });
    const { body } = await panel.call('/panel/api/clients/update/ann', { body: { comment: `x${i}` } });
    t.notRegex(body.msg, /does not have it/);
  }
  far.replies.delete('/apply');
  far.replies.set('/state', () => ({ digest: digestOfAll(digests) }));
  t.deepEqual(panel.faults, []);
});

test('many changes are sent compressed, and one edit as it is', async (t) => {
  const world = await SyncWorld.start(t);
  const { panel } = world.central;
  const far = await FalseNode.start(t);
  const inboundIds = [await panel.addInbound({ nodeId: await far.join(panel, 'far') })];
  const clients = Array.from({ length: 50 }, (_, i) => ({ client: { email: `many${i}` }, inboundIds }));
  await panel.get('/panel/api/clients/bulkCreate', { body: clients });
  await until(async () => far.applied.flat().length > 50, 'all is sent');
  const [many] = far.packed;
  t.regex(many?.path ?? '', /apply$/);
  t.true(many && many.sent * 4 < many.bytes, JSON.stringify(many));
  far.packed.length = 0;
  await panel.get('/panel/api/clients/update/many1', { body: { comment: 'x' } });
  await until(async () => far.applied.flat().length > 51, 'the edit is sent');
  t.deepEqual(far.packed, []);
});

test('what waited for a disabled node is sent when it is enabled', async (t) => {
  const world = await SyncWorld.start(t);
  const node = await world.node('fra');
  const { panel } = world.central;
  const id = await panel.addInbound({ nodeId: node.id });
  const enable = (is: boolean) =>
    panel.get(`/panel/api/nodes/setEnable/${node.id}`, { body: { enable: is } });
  await enable(false);
  const { body } = await panel.call('/panel/api/clients/add', {
    body: { client: { email: 'ann' }, inboundIds: [id] },
  });
  t.regex(body.msg, /it is disabled/);
  t.deepEqual(await emails(node.panel), []);
  await enable(true);
  await until(async () => (await emails(node.panel)).length === 1, 'the client is there');
});

test('two panels that are nodes of each other, with one client: an edit ends', async (t) => {
  const world = await SyncWorld.start(t);
  const node = await world.node('fra');
  const { panel, port } = world.central;
  const there = await panel.addInbound({ nodeId: node.id });
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'back' },
  });
  const place = { scheme: 'http', address: '127.0.0.1', port, basePath: '/', apiToken: token };
  await node.panel.get('/panel/api/nodes/add', {
    body: { name: 'back', ...place, allowPrivateAddress: true },
  });
  const [back] = await node.panel.get<{ id: number }[]>('/panel/api/nodes/list');
  const home = await node.panel.addInbound({ nodeId: back?.id });
  await panel.addClient('ann', [there]);
  await node.panel.get('/panel/api/clients/ann/attach', { body: { inboundIds: [home] } });
  await until(async () => (await client(panel, 'ann')).inboundIds.length === 2, 'both have it on both');
  const versions = async () =>
    (await panel.get<{ sentAt: number }[]>('/panel/api/x/node-sync'))[0]?.sentAt ?? 0;
  await panel.get('/panel/api/clients/update/ann', { body: { comment: 'x' } });
  const last = await versions();
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  t.true((await versions()) - last < 1_500, 'it does not go round');
  t.is((await node.panel.get<{ comment: string }>('/panel/api/clients/get/ann')).comment, 'x');
});

test('an edit of a record that is on its way is sent after it', async (t) => {
  const world = await SyncWorld.start(t);
  const { panel } = world.central;
  const far = await FalseNode.start(t);
  const nodeId = await far.join(panel, 'far');
  await panel.addClient('ann', [await panel.addInbound({ nodeId })]);
  await until(async () => (await world.pending(nodeId)) === 0, 'all is sent');
  const edit = (comment: string) => panel.call('/panel/api/clients/update/ann', { body: { comment } });
  const comments: unknown[] = [];
  let second: Promise<unknown> | undefined;
  far.replies.set('/apply', async (body) => {
    const { changes } = JSON.parse(body) as { changes: { value: { comment?: string } }[] };
    comments.push(...changes.map(({ value }) => value.comment));
    second ??= edit('second');
    await until(async () => (await client(panel, 'ann')).comment === 'second', 'it is stored');
    return { results: changes.map((change) => ({ ...change, ok: true })) };
  });
  await edit('first');
  await second;
  t.deepEqual(comments, ['first', 'second']);
  t.is(await world.pending(nodeId), 0);
});

test('another panel in the place of a node is compared as soon as it is accepted', async (t) => {
  const world = await SyncWorld.start(t);
  const { panel } = world.central;
  const far = await FalseNode.start(t);
  const nodeId = await far.join(panel, 'far');
  await world.reconcile(nodeId);
  const compared = async () => {
    far.asked.length = 0;
    await panel.call('/panel/api/system/jobs/node-sync/compare', { method: 'POST' });
    return far.asked.some((path) => path.includes('/node/state?'));
  };
  t.false(await compared(), 'it was just now');
  far.guid = '22222222-2222-4333-8444-555555555555';
  await panel.get(`/panel/api/nodes/probe/${nodeId}`, { method: 'POST' });
  t.false(await compared(), 'nobody has said that it is meant');
  await panel.get(`/panel/api/x/nodes/acceptGuid/${nodeId}`, { method: 'POST' });
  t.true(await compared());
});

test('a node that says of each record that it has it, and that it has a newer one', async (t) => {
  const world = await SyncWorld.start(t);
  const { panel } = world.central;
  const node = await FalseNode.start(t);
  node.replies.set('/apply', (body) => {
    const { changes } = JSON.parse(body) as { changes: { version: number }[] };
    node.applied.push([]);
    return {
      results: changes.flatMap((change) => [
        { ...change, ok: true, newest: change.version + 1 },
        { ...change, ok: false, reason: 'no\r\n\u202e<b>way' },
      ]),
    };
  });
  const nodeId = await node.join(panel, 'liar');
  await world.online(nodeId);
  await panel.addInbound({ nodeId });
  const problem = async () =>
    (await panel.get<{ problem: string }[]>('/panel/api/x/node-sync'))[0]?.problem ?? '';
  await until(async () => (await problem()).includes('a newer one'), 'it is not believed for ever');
  t.true(node.applied.length < 20, `${node.applied.length} calls`);
});

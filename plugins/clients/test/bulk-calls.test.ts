// Bulk calls that meet duplicates, other calls, plugins and a slow core.
import test, { type ExecutionContext } from 'ava';
import { Answer, definePlugin, type Plugin, tap } from '../../../kernel/index.js';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { type ClientChange, clientChanged, prepareClientSave } from '../contract.js';
import { bulkRoutes } from '../edits/bulk-routes.js';

async function boot(t: ExecutionContext, others: readonly Plugin[] = []) {
  const engine = new FakeEngine();
  const panel = await TestPanel.boot({ plugins: [engine.plugin, ...others] });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const post = <T = unknown>(path: string, body: unknown): Promise<T> =>
    panel.get<T>(`/panel/api/clients/${path}`, { body });
  return { engine, panel, post, first: await panel.addInbound(), second: await panel.addInbound() };
}
interface Skipped {
  readonly email: string;
  readonly code: string;
  readonly index?: number;
}

test('two calls that delete the same clients delete each once, and the later one says so', async (t) => {
  const told: ClientChange[] = [];
  const listener = definePlugin({
    name: 'listener',
    version: '1.0.0',
    api: 1,
    about: 'Receives clients.',
    taps: () => [tap(clientChanged, ({ changes }) => void told.push(...changes))],
  });
  const { panel, post, first } = await boot(t, [listener]);
  const emails = ['a', 'b', 'c'];
  for (const email of emails) await panel.addClient(email, [first]);
  const results = await Promise.all(
    [emails, [...emails].reverse()].map((sent) =>
      post<{ deleted: number; skipped: Skipped[] }>('bulkDel', { emails: sent }),
    ),
  );
  // Whichever came first.
  const [late, won] = results.toSorted((a, b) => a.deleted - b.deleted);
  t.deepEqual([late?.deleted, won], [0, { deleted: 3, skipped: [] }]);
  t.deepEqual(late?.skipped.map(({ email, code }) => `${email} ${code}`).sort(), [
    'a CLIENTS_NOT_FOUND',
    'b CLIENTS_NOT_FOUND',
    'c CLIENTS_NOT_FOUND',
  ]);
  await panel.kernel.settled();
  const gone = told.filter(({ kind }) => kind === 'deleted').map(({ before }) => before?.email);
  t.deepEqual(gone.sort(), emails);
});

test('an inbound that is sent twice counts once, and the core is told once', async (t) => {
  const { engine, panel, post, first, second } = await boot(t);
  const { id } = await panel.addClient('a', [first]);
  t.deepEqual(await post('bulkAttach', { emails: ['a', ' A '], inboundIds: [second, second, first] }), {
    attached: ['a'],
    skipped: ['a'],
    errors: [],
  });
  t.deepEqual(engine.told.at(-1), [{ inboundId: second, clientId: id }]);
  t.deepEqual(await post('bulkDetach', { emails: ['a', 'A'], inboundIds: [second, second] }), {
    detached: ['a'],
    skipped: [],
    errors: [],
  });
  t.deepEqual(engine.told.at(-1), [{ inboundId: second, clientId: id }]);
});

test('what bulkCreate skips is named by its place in the list that was sent', async (t) => {
  const { panel, post, first } = await boot(t);
  await panel.addClient('taken', [first]);
  const item = (email: string) => ({ client: { email }, inboundIds: [first] });
  const { created, skipped } = await post<{ created: number; skipped: Skipped[] }>('bulkCreate', [
    item(''),
    item('new'),
    { client: { email: 'odd', totalGB: -1 }, inboundIds: [first] },
    item('taken'),
    item('NEW'),
  ]);
  t.is(created, 1);
  t.deepEqual(
    skipped.map(({ index, email }) => [index, email] as const).sort(([a = 0], [b = 0]) => a - b),
    [
      [0, ''],
      [2, 'odd'],
      [3, 'taken'],
      [4, 'NEW'],
    ],
  );
});

test('a plugin cannot give many clients one email in a bulk call', async (t) => {
  const clumsy = definePlugin({
    name: 'clumsy',
    version: '1.0.0',
    api: 1,
    about: 'Sets a field that must be unique.',
    taps: () => [
      tap(prepareClientSave, (clients, { targets }) =>
        clients.map((client, i) =>
          targets[i]?.before ? { ...client, subId: 'same', comment: 'x' } : client,
        ),
      ),
    ],
  });
  const { panel, post, first } = await boot(t, [clumsy]);
  for (const email of ['a', 'b']) await panel.addClient(email, [first]);
  t.deepEqual(await post('bulkDisable', { emails: ['a', 'b'] }), { changed: 2, skipped: [] });
  const clients = await panel.get<{ subId: string; comment: string }[]>('/panel/api/clients/list');
  t.deepEqual(
    clients.map(({ comment, subId }) => [comment, subId === 'same']),
    [
      ['x', false],
      ['x', false],
    ],
  );
});

test('a group into which clients are moved stays when they leave it', async (t) => {
  const { panel, post, first } = await boot(t);
  for (const email of ['a', 'b']) await panel.addClient(email, [first]);
  t.deepEqual(await post('groups/bulkAdd', { emails: ['a', 'A', 'b', 'nobody'], group: 'g' }), {
    affected: 2,
  });
  t.deepEqual(await post('groups/bulkAdd', { emails: ['a', 'b'], group: 'g' }), { affected: 0 });
  t.deepEqual(await post('groups/bulkRemove', { emails: ['b', 'a', 'a'] }), { affected: 2 });
  t.deepEqual(
    (await panel.get<{ name: string; clientCount: number }[]>('/panel/api/clients/groups')).map(
      ({ name, clientCount }) => [name, clientCount],
    ),
    [['g', 0]],
  );
});

test('every bulk call over users says how many are on their way to the core, and how long they take', async (t) => {
  const applied = { pending: true, reason: 'they are on their way', onTheWay: { users: 2000, ms: 400 } };
  const result = async () => ({ ...applied, applied, attached: [], detached: [], skipped: [] });
  const service = new Proxy({}, { get: () => result });
  const routes = bulkRoutes({
    service,
    bulk: service,
    usage: service,
    inbounds: { get: () => ({}) },
  } as unknown as Parameters<typeof bulkRoutes>[0]);
  for (const { name, reply, handle } of routes) {
    const input = {
      params: { id: 1 },
      body: { emails: [], inboundIds: [], addDays: 1, addBytes: 0, flow: '' },
      reply: { progressed: () => undefined },
    };
    const answer = await handle((name === 'clients.bulkCreate' ? { ...input, body: [] } : input) as never);
    const [obj, msg] = answer instanceof Answer ? [answer.obj, answer.msg] : [undefined, answer];
    t.regex(String(msg), /does not have it yet: they are on their way$/, name);
    if (reply.kind !== 'message') t.like(obj, { pending: 2000, lagMs: 400 }, name);
  }
  t.true(routes.length > 8);
});

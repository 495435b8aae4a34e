// Whole archives with records that no panel writes: each is left with its reason, and the others are taken.
import test from 'ava';
import { freePort, type TestPanel } from '../../../test/harness/index.js';
import { archiveOf, boot, bring, type Line, sealed, upload } from './archive-world.js';

let panel: TestPanel;
let header = '';
test.before(async () => {
  panel = await boot();
  header = (await archiveOf(panel)).split('\n')[0] as string;
});
test.after.always(() => panel?.[Symbol.asyncDispose]());

const archive = (...lines: readonly Line[]): string =>
  sealed([header, ...lines.map((line) => JSON.stringify(line))]);
const inbound = async (tag: string, fields: object = {}): Promise<Line> => ({
  kind: 'inbounds',
  record: { protocol: 'vless', port: await freePort(), listen: '127.0.0.1', tag, remark: tag, ...fields },
});

test.serial('objects where text or an id belongs leave their record, and stop nothing', async (t) => {
  const strange = { toString: 1, valueOf: 1 };
  const records = {
    settings: { name: strange, value: 1 },
    nodes: { id: strange, name: strange },
    inbounds: { id: strange, tag: strange, remark: strange, nodeId: strange, settings: strange },
    groups: { name: strange },
    clients: { client: { email: strange, credentials: [strange] }, inboundIds: [strange], usage: strange },
    hosts: { groupId: strange, remark: strange, inboundIds: [strange] },
    fallbacks: { inboundId: strange, fallbacks: strange },
    'core-template': { template: [strange] },
    'outbound-subs': { url: strange, tagPrefix: strange, remark: strange },
    'sub-balancers': { remark: strange, inboundIds: [strange] },
  };
  const { kinds } = JSON.parse(header) as { kinds: { kind: string }[] };
  const lines = kinds.map(({ kind }) => ({ kind, record: records[kind as keyof typeof records] }));
  for (const apply of ['false', 'true']) {
    const report = await bring(panel, archive(...lines), { apply, settings: 'true' });
    for (const { kind, taken, leftCount } of report.kinds) t.deepEqual([taken, leftCount], [0, 1], kind);
  }
  t.deepEqual(panel.faults, []);
});

test.serial('a line with very many different keys is refused before it is parsed', async (t) => {
  const record = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`key${i}`, 0]));
  const { status, body } = await upload(panel, archive({ kind: 'hosts', record }));
  t.is(status, 422);
  t.regex(body.msg, /line 2.*different keys/);
});

test.serial('settings are taken by their own names only, and each once', async (t) => {
  const lines = ['pageSize', '__proto__', 'pageSize', 'constructor'].map((name, i) => ({
    kind: 'settings',
    record: { name, value: name === '__proto__' ? { pageSize: 77 } : 30 + i },
  }));
  const report = await bring(panel, archive(...lines), { apply: 'true', settings: 'true' });
  const { taken, left = [] } = report.kinds.find(({ kind }) => kind === 'settings') ?? {};
  t.is(taken, 1);
  t.deepEqual(
    left.map(({ name }) => name),
    ['__proto__', 'pageSize', 'constructor'],
  );
  const { pageSize } = (await panel.get('/panel/api/setting/all', { method: 'POST' })) as {
    pageSize: number;
  };
  t.is(pageSize, 30);
});

test.serial('counters and facts of another panel that cannot be true leave their record', async (t) => {
  const usage = { up: 1, down: 2, lastOnline: 3, lastSubFetch: 4, resetCount: 5 };
  const clients = [{ ...usage, up: -1 }, { ...usage, lastOnline: 1e300 }, { up: 5 }, 'none'].map(
    (sent, i) => ({
      kind: 'clients',
      record: { client: { email: `untrue${i}` }, inboundIds: [], usage: sent },
    }),
  );
  const inbounds = await Promise.all(
    [{ up: -1 }, { down: '5' }, { originGuid: 'x'.repeat(65) }, { nodeId: '1' }, { settings: 'text' }].map(
      (fields, i) => inbound(`untrue-${i}`, fields),
    ),
  );
  for (const apply of ['false', 'true']) {
    const report = await bring(panel, archive(...inbounds, ...clients), { apply });
    const of = (kind: string) => report.kinds.find((one) => one.kind === kind);
    t.deepEqual([of('inbounds')?.taken, of('inbounds')?.leftCount], [0, inbounds.length]);
    t.deepEqual([of('clients')?.taken, of('clients')?.leftCount], [0, clients.length]);
  }
});

test.serial('groups are listed whatever their archive and their clients say they used', async (t) => {
  const most = Number.MAX_SAFE_INTEGER;
  const usage = { up: most, down: most, lastOnline: 0, lastSubFetch: 0, resetCount: 0 };
  const members = Array.from({ length: 1100 }, (_, i) => ({
    kind: 'clients',
    record: { client: { email: `greatest${i}`, group: 'greatest' }, inboundIds: [], usage },
  }));
  const groups = [
    { kind: 'groups', record: { name: 'greatest', up: -most, down: -most, created: true } },
    { kind: 'groups', record: { name: 'other', up: -most, down: -most, created: true } },
  ];
  await bring(panel, archive(...groups, ...members));
  const listed = async () => (await panel.get('/panel/api/clients/groups')) as { trafficUsed: number }[];
  t.true((await listed()).every(({ trafficUsed }) => trafficUsed === most));
  await panel.get('/panel/api/clients/groups/rename', { body: { oldName: 'other', newName: 'third' } });
  await panel.get('/panel/api/clients/groups/resetTraffic', { body: { name: 'greatest' } });
  await panel.get('/panel/api/clients/resetAllTraffics', { method: 'POST' });
  t.true((await listed()).every(({ trafficUsed }) => Number.isSafeInteger(trafficUsed)));
});

test.serial('of two records with one id, the first one is referred to', async (t) => {
  const [first, second] = [await inbound('first-of-id', { id: 7 }), await inbound('second-of-id', { id: 7 })];
  const client = { kind: 'clients', record: { client: { email: 'of-id' }, inboundIds: [7] } };
  await bring(panel, archive(first, second, client));
  const inbounds = (await panel.get('/panel/api/inbounds/list')) as { id: number; tag: string }[];
  const { inboundIds } = (await panel.get('/panel/api/clients/get/of-id')) as { inboundIds: number[] };
  t.deepEqual(inboundIds, [inbounds.find(({ tag }) => tag === 'first-of-id')?.id]);
});

test.serial('local destinations that an archive brings are named', async (t) => {
  const dest = `127.0.0.1:${await freePort()}`;
  const report = await bring(panel, archive(await inbound('local', { settings: { fallbacks: [{ dest }] } })));
  const inbounds = report.kinds.find(({ kind }) => kind === 'inbounds');
  t.is(inbounds?.taken, 1, JSON.stringify(inbounds));
  t.true(inbounds?.notes.some(({ reason }) => reason.includes(dest)));
});

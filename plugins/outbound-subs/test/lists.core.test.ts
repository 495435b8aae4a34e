// Lists of outbounds on a real core: a user's bytes leave by an outbound that was fetched.
import test, { type ExecutionContext } from 'ava';
import { connect, engineOf, MIB, openPanel, openServer } from '../../../test/engine/user.js';
import type { CorePanel } from '../../../test/engine/core-panel.js';
import type { JsonObject } from '../../engine/contract.js';
import { Listener } from '../../realtime/test/listener.js';
import { openLists } from './list-server.js';
import { openExit } from './exit.js';

const API = '/panel/api/engine/outbound-subs';
interface Shown {
  readonly id: number;
  readonly tagPrefix: string;
  readonly lastError: string;
  readonly lastUpdated: number;
  readonly outboundCount: number;
  readonly outboundTags: readonly string[];
  readonly defaultOutbound: string;
  readonly leftOutCount: number;
  readonly leftOut: readonly { name: string; reason: string }[];
}

const template = async (panel: CorePanel) =>
  JSON.parse(
    (await panel.get<{ engineSetting: string }>('/panel/api/engine/', { method: 'POST' })).engineSetting,
  ) as { outbounds: JsonObject[]; routing: { rules: JsonObject[] } };

async function route(panel: CorePanel, port: number, outboundTag: string) {
  const now = await template(panel);
  const rules = [{ type: 'field', port: String(port), outboundTag }];
  const answer = await panel.call('/panel/api/engine/update', {
    body: { engineSetting: { ...now, routing: { ...now.routing, rules } } },
  });
  if (answer.status !== 200) throw new Error(answer.text);
}
const create = (panel: CorePanel, body: object) =>
  panel.get<Shown>(API, { body: { allowPrivate: true, ...body } });
const refresh = (panel: CorePanel, id: number) => panel.call(`${API}/${id}/refresh`, { method: 'POST' });
const shown = async (panel: CorePanel, id: number): Promise<Shown> =>
  (await panel.get<Shown[]>(API)).find((sub) => sub.id === id) as Shown;
const tagsOf = (obj: unknown): string[] => (obj as { tag: string }[]).map(({ tag }) => tag);

async function boot(t: ExecutionContext, env: Record<string, string> = {}) {
  const panel = await openPanel(t, { env });
  const inbound = await panel.addInbound();
  await panel.addClient('ann', [inbound]);
  const server = await openServer(t);
  const user = await connect(t, panel, 'ann', server);
  return { panel, server, user };
}

test('a user reaches a server through a fetched outbound; another list takes its place while a download goes on', async (t) => {
  const { panel, server, user } = await boot(t);
  const core = await panel.corePid();
  const [one, two] = [await openExit(t), await openExit(t)];
  const lists = await openLists(t, Buffer.from(`${one.link}#One\n`).toString('base64'));
  const sub = await create(panel, { url: lists.url, remark: 'exits' });
  t.is(sub.tagPrefix, 'sub1-');
  t.is(lists.requests.length, 0, 'creating fetches nothing');
  const answer = await refresh(panel, sub.id);
  t.is(answer.status, 200, answer.text);
  t.deepEqual(tagsOf(answer.body.obj), ['sub1-One']);
  t.is(lists.requests[0]?.headers['user-agent'], 'Weir outbound-subs');
  await route(panel, server.port, 'sub1-One');
  t.is(await user.download(MIB), MIB);
  t.is(one.connections(), 1, 'it left by the fetched outbound');

  const transfer = user.start(4 * MIB, MIB);
  await panel.until(async () => Promise.resolve(transfer.soFar > 0), 'the download has begun');
  t.deepEqual((await shown(panel, sub.id)).outboundTags, ['sub1-One']);
  lists.answer = `${two.link}#Two\n${one.link}#Uno`;
  const again = await refresh(panel, sub.id);
  t.deepEqual(tagsOf(again.body.obj), ['sub1-Two', 'sub1-One'], 'the same server has the same tag');
  t.is(await user.download(MIB), MIB);

  lists.answer = `${two.link}#Two`;
  t.deepEqual(tagsOf((await refresh(panel, sub.id)).body.obj), ['sub1-Two']);
  t.true(transfer.soFar < 4 * MIB, 'the download ran all the while');
  t.is(await transfer.ended, 4 * MIB, 'what left by the old outbound goes on');
  await route(panel, server.port, 'sub1-Two');
  const before = two.connections();
  t.is(await user.download(MIB), MIB);
  t.is(two.connections(), before + 1);
  t.is(await panel.corePid(), core, 'the core was never restarted');

  lists.answer = (_, response) => void response.writeHead(500).end();
  const failed = await refresh(panel, sub.id);
  t.is(failed.status, 422);
  t.is(failed.body.code, 'OUTBOUND_SUBS_NOT_FETCHED');
  t.is(await user.download(MIB), MIB, 'the last good list stays');
  lists.answer = `vless://nonsense\n${one.link.replace('127.0.0.1', '')}`;
  t.is((await refresh(panel, sub.id)).status, 422, 'so it does after a list of which nothing is good');
  t.like(await shown(panel, sub.id), { outboundCount: 1 });
  t.regex((await shown(panel, sub.id)).lastError, /nothing of the list can be used; 2 entries are left out/);
  t.notRegex(JSON.stringify(await panel.get(API)), /secret.*secret/);
  const deleted = await panel.call(`${API}/${sub.id}/del`, { method: 'POST' });
  t.is(deleted.status, 200);
  t.deepEqual(await panel.get(API), []);
});

test('entries that the core rejects are left out, also many of them, and the others run', async (t) => {
  const { panel } = await boot(t);
  const good = (n: number): JsonObject => ({
    protocol: 'trojan',
    settings: { servers: [{ address: `203.0.113.${n}`, port: 443, password: 'x' }] },
  });
  const bad = (n: number): JsonObject => ({
    protocol: 'vless',
    settings: {
      vnext: [{ address: `203.0.113.${n}`, port: 443, users: [{ id: 'x', encryption: `odd${n}` }] }],
    },
  });
  const outbounds = Array.from({ length: 40 }, (_, n) => (n % 4 === 3 ? bad(n) : good(n)));
  const lists = await openLists(t, JSON.stringify({ outbounds }));
  const sub = await create(panel, { url: lists.url, tagPrefix: 'many-' });
  const answer = await refresh(panel, sub.id);
  t.is(answer.status, 200, answer.text);
  t.is((answer.body.obj as unknown as unknown[]).length, 30);
  t.regex(answer.body.msg, /^30 outbounds are in force; 10 entries are left out, the first because: /);
  const view = await shown(panel, sub.id);
  t.like(view, { outboundCount: 30, leftOutCount: 10, outboundTags: { length: 30 } });
  t.true(view.leftOut.every(({ reason }) => reason.startsWith('the core does not take it')));
  t.is((await engineOf(panel)).state, 'running');
});

test('the default outbound is of a list only where an admin said so, and no refresh by itself changes it', async (t) => {
  const { panel, server, user } = await boot(t);
  const [one, two] = [await openExit(t), await openExit(t)];
  const lists = await openLists(t, `${one.link}#One`);
  const sub = await create(panel, { url: lists.url });
  t.notRegex((await refresh(panel, sub.id)).body.msg, /no rule/);
  t.true(await user.served());
  t.is(one.connections(), 0, 'without prepend it takes nothing');
  const said = await panel.call(`${API}/${sub.id}`, { body: { prepend: true } });
  t.regex(said.body.msg, /what no rule takes leaves by sub1-One now/);
  t.true(await user.served());
  t.is(one.connections(), 1);
  t.is((await shown(panel, sub.id)).defaultOutbound, 'sub1-One');

  const job = () => panel.call('/panel/api/system/jobs/outbound-subs/refresh', { method: 'POST' });
  lists.answer = `${two.link}#Two`;
  await panel.call(`${API}/${sub.id}`, { body: { allowPrivate: true } });
  t.is((await job()).status, 200);
  const view = await shown(panel, sub.id);
  t.like(view, { defaultOutbound: 'sub1-One', outboundCount: 2 });
  t.regex(view.lastError, /sub1-One is no longer in the list and stays in use/);
  t.true(await user.served());
  t.deepEqual([one.connections(), two.connections()], [2, 0]);

  const asked = await refresh(panel, sub.id);
  t.regex(asked.body.msg, /what no rule takes leaves by sub1-Two now/);
  t.deepEqual(tagsOf(asked.body.obj), ['sub1-Two']);
  t.true(await user.served());
  t.deepEqual([one.connections(), two.connections()], [2, 1]);
  const gone = await panel.call(`${API}/${sub.id}`, { method: 'DELETE' });
  t.regex(gone.body.msg, /the first outbound of the template again/);
  t.true(await user.served());
  t.is(server.port > 0 && two.connections(), 1);
});

test('a tag of the template is the template’s, whichever came first', async (t) => {
  const { panel } = await boot(t);
  const exit = await openExit(t);
  const lists = await openLists(t, `${exit.link}#One\n${exit.link.replace('127.0.0.1', '203.0.113.9')}#Two`);
  const sub = await create(panel, { url: lists.url });
  t.deepEqual(tagsOf((await refresh(panel, sub.id)).body.obj), ['sub1-One', 'sub1-Two']);
  const now = await template(panel);
  const taken = { ...now, outbounds: [...now.outbounds, { tag: 'sub1-Two', protocol: 'blackhole' }] };
  const saved = await panel.call('/panel/api/engine/update', { body: { engineSetting: taken } });
  t.is(saved.status, 200, saved.text);
  const config = await panel.get<{ outbounds: JsonObject[] }>('/panel/api/server/getConfigJson');
  t.deepEqual(
    config.outbounds.filter(({ tag }) => tag === 'sub1-Two').map(({ protocol }) => protocol),
    ['blackhole'],
  );
  lists.answer = `${lists.answer as string}\n${exit.link.replace('127.0.0.1', '203.0.113.8')}#Two`;
  const tags = tagsOf((await refresh(panel, sub.id)).body.obj);
  t.is(tags.length, 3);
  t.false(tags.includes('sub1-Two'), String(tags));
});

test('a list survives a restart of the panel, is fetched by schedule with a pause after failures, and takes another prefix', async (t) => {
  const { panel, server, user } = await boot(t);
  const exit = await openExit(t);
  const lists = await openLists(t, `${exit.link}#One`);
  const sub = await create(panel, { url: lists.url, updateInterval: 60 });
  const job = (of: CorePanel) => of.call('/panel/api/system/jobs/outbound-subs/refresh', { method: 'POST' });
  const listener = Listener.plain(panel);
  t.teardown(() => listener.close());
  await panel.until(() => listener.messages.length > 0, 'the live stream is open');
  const told = (): unknown[] =>
    listener.messages.flatMap(({ type, payload }) => (type === 'invalidate' ? [payload['type']] : []));
  t.is((await job(panel)).status, 200);
  await panel.until(() => told().includes('outbounds') && told().includes('outbound-subs'), 'pages are told');
  t.like(await shown(panel, sub.id), { outboundCount: 1, lastError: '' });
  await job(panel);
  t.is(lists.requests.length, 1, 'it is not due');
  await route(panel, server.port, 'sub1-One');
  t.true(await user.served());
  const said = await panel.call(`${API}/${sub.id}`, { body: { tagPrefix: 'out-' } });
  t.is(said.status, 200, said.text);
  t.false(await user.served(), 'a rule for a tag that is gone blocks');
  await route(panel, server.port, 'out-One');
  t.true(await user.served());
  lists.answer = (_, response) => void response.writeHead(503).end();
  await panel.call(`${API}/${sub.id}`, { body: { url: lists.url.replace('secret', 'other') } });
  await job(panel);
  await job(panel);
  t.is(lists.requests.length, 2, 'a failure waits too');
  t.regex((await shown(panel, sub.id)).lastError, /status 503/);
  t.like(await shown(panel, sub.id), { outboundCount: 1 });
  await panel.leave();
  const next = await openPanel(t, { dataDirectory: panel.dataDirectory });
  t.like(await shown(next, sub.id), { outboundCount: 1, tagPrefix: 'out-' });
  const before = exit.connections();
  t.true(await user.served());
  t.is(exit.connections(), before + 1);
  t.is((await next.call(`${API}/${sub.id}`, { body: { enabled: false } })).status, 200);
  t.false(await user.served());
});

// Third-party plugins in a running panel, while bytes flow: a healthy one, and others that throw or hang wherever a plugin can.
import test, { type ExecutionContext } from 'ava';
import {
  connect,
  counted,
  MIB,
  openServer,
  spawnPanel,
  type Usage,
  usageOf,
  within,
} from '../engine/user.js';
import type { LogLine } from '../harness/logged-panel.js';
import type { PanelProcess } from '../harness/panel-process.js';
import { folderOf, thirdParty, writeFiles } from '../outside/third-party.js';
import { type Heard, healthy, HOOKS, type Kind, misbehaving } from './misbehaving.js';

const THROWS = "throw new Error('weeds');";
const HANGS = 'return new Promise(() => undefined);';
const BAD = ['hanging', 'throwing'];
const LIMITS = { TEST_PANEL_LIMITS: '{"tap":1000,"event":3000}' };

const both = ({ up, down }: Usage): number => up + down;
const heardBy = (panel: PanelProcess): Promise<Heard> => panel.get('/panel/api/x/healthy/heard');
const statesOf = async (panel: PanelProcess): Promise<Record<string, string>> => {
  const all = await panel.get<{ name: string; state: string }[]>('/panel/api/system/plugins');
  return Object.fromEntries(all.map(({ name, state }) => [name, state]));
};
const isFaulty = (states: Readonly<Record<string, string>>): boolean =>
  BAD.every((name) => states[name] === 'faulty');
const faultsOf = (panel: PanelProcess): readonly LogLine[] =>
  panel.log.filter(({ msg }) => msg === 'plugin fault');
/** Returns the kind of hook of a fault. */
const kindOf = ({ where }: LogLine): string => {
  const hook = String(where).split('/')[1]?.split(' ')[0] ?? '';
  const kind = (Object.keys(HOOKS) as Kind[]).find((known) =>
    (Object.values(HOOKS[known]) as string[][]).flat().includes(hook),
  );
  return kind ?? (/^(job|GET|stop)/.exec(String(where))?.[0] || 'entry');
};

/** The demo's bytes, edits and quota, with bad plugins beside; afterwards these must be faulty, and no others. */
async function live(t: ExecutionContext, kinds: readonly Kind[]): Promise<void> {
  t.timeout(170_000);
  const folder = await folderOf(t);
  const sources = {
    hanging: misbehaving('hanging', HANGS, kinds),
    healthy,
    throwing: misbehaving('throwing', THROWS, kinds),
  };
  const references = await Promise.all(
    Object.entries(sources).map(([name, source]) => thirdParty(folder, name, source)),
  );
  await writeFiles(folder, {
    'weir.json': { plugins: Object.fromEntries(references.map((reference) => [reference, true])) },
  });
  const server = await openServer(t);
  const panel = await spawnPanel(t, { dataDirectory: folder, env: LIMITS });
  t.like(await statesOf(panel), { hanging: 'running', healthy: 'running', throwing: 'running' });
  t.is(panel.ready.engine, 'running');
  t.is((await panel.call('/panel/api/clients/list', { anonymous: true })).status, 401);
  const inboundId = await panel.addInbound();
  const alice = await panel.addClient('alice', [inboundId]);
  await panel.addClient('bob', [inboundId], { totalGB: 4 * MIB });
  const core = await panel.corePid();
  const [a, b] = [await connect(t, panel, 'alice', server), await connect(t, panel, 'bob', server)];

  const bytes = 24 * MIB;
  const transfer = a.start(bytes, 2 * MIB);
  const over = b.start(64 * MIB, 2 * MIB);
  // Meanwhile clients are edited, settings changed, lists read.
  await panel.addClient('carol', [inboundId]);
  await panel.get('/panel/api/clients/update/carol', { body: { totalGB: 5 * MIB, comment: 'edited' } });
  t.like(await panel.get('/panel/api/clients/get/carol'), { totalGB: 5 * MIB, comment: 'edited' });
  t.true((await panel.call('/panel/api/setting/update', { body: { subTitle: 'weir' } })).body.success);
  await panel.get('/panel/api/setting/defaultSettings', { method: 'POST' });
  t.is((await panel.get<unknown[]>('/panel/api/inbounds/list')).length, 1);
  t.is((await panel.get<unknown[]>('/panel/api/clients/list')).length, 3);
  await panel.login();

  const subscription = await fetch(panel.ready.subUrl + alice.subId);
  t.is(subscription.status, 200);
  t.is(subscription.headers.get('x-healthy'), 'yes');
  t.is(
    Buffer.from(await subscription.text(), 'base64')
      .toString()
      .trim()
      .split('#')[0],
    (await panel.get<string[]>('/panel/api/clients/links/alice'))[0]?.split('#')[0],
  );
  for (const name of BAD)
    t.is((await fetch(`${new URL(panel.ready.subUrl).origin}/${name}/${alice.subId}`)).status, 503);
  t.true([500, 503].includes((await panel.call('/panel/api/x/throwing/deed')).status));
  // The reply comes when the panel gives up on it, or stops; no other call waits.
  const unanswered = fetch(`${panel.url}/panel/api/x/hanging/deed`, {
    headers: { cookie: panel.cookie },
  }).catch(() => undefined);

  await panel.until(async () => !(await usageOf(panel, 'bob')).enable, 'the quota switches bob off');
  await panel.until(async () => !(await b.served()), 'the core lets bob in no more');
  await Promise.race([over.ended, b.end()]);
  t.is(await transfer.ended, bytes);
  const total = await counted(panel, 'alice', bytes);
  t.true(within(total, bytes), `counted ${total} of ${bytes}`);
  t.true(await a.served());
  await counted(panel, 'alice', total + 1000);
  t.is(await panel.corePid(), core);

  await panel.until(async () => isFaulty(await statesOf(panel)), 'the panel says who is faulty', 60_000);
  const inbound = await panel.get<Usage>(`/panel/api/inbounds/get/${inboundId}`);
  const usages = await Promise.all(['alice', 'bob', 'carol'].map((email) => usageOf(panel, email)));
  t.is(
    usages.reduce((sum, usage) => sum + both(usage), 0),
    both(inbound),
    'the inbound has what its clients have, to the byte',
  );
  await panel.until(
    async () => (await heardBy(panel)).bytes === both(inbound),
    'the healthy plugin has received every byte, once',
  );
  const heard = await heardBy(panel);
  t.deepEqual(heard.depleted, ['bob']);
  t.true(heard.saved >= 4 && heard.ticks > 5, JSON.stringify(heard));
  const states = Object.entries(await statesOf(panel));
  t.deepEqual(
    states.filter(([, state]) => state !== 'running'),
    BAD.map((name) => [name, 'faulty']),
  );
  const others = faultsOf(panel).filter(({ plugin }) => !BAD.includes(String(plugin)));
  t.deepEqual(others, [], 'no other plugin is faulted');
  for (const name of BAD) {
    const seen = new Set(faultsOf(panel).flatMap((line) => (line['plugin'] === name ? [kindOf(line)] : [])));
    for (const kind of kinds) t.true(seen.has(kind), `${name} did wrong in no ${kind}: ${[...seen].join()}`);
  }

  t.deepEqual(await panel.kill('SIGTERM'), { code: 0, signal: null });
  await unanswered;
  t.is(await panel.corePid(), undefined, 'the core ended with the panel');
  const again = await spawnPanel(t, { dataDirectory: panel.dataDirectory, env: LIMITS });
  t.is(
    both(await again.get<Usage>(`/panel/api/inbounds/get/${inboundId}`)),
    both(inbound),
    'nothing is lost, nothing counted twice',
  );
}

test.serial('third-party plugins that throw and hang in guard, draft, choose and after hooks', (t) =>
  live(t, ['guard', 'draft', 'choose', 'after']),
);
test.serial('third-party plugins that throw and hang in filters and events', (t) =>
  live(t, ['filter', 'event']),
);

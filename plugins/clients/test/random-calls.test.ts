// Thousands of calls over the API, many at once: afterwards memory is what a fresh load gives, and the core has exactly
// the users that the clients say.
import test, { type ExecutionContext } from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { random } from '../../../test/harness/random.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import type { GroupStore } from '../groups/group-store.js';
import clients from '../index.js';
import type { ClientStore } from '../model/client-store.js';

interface Inside {
  readonly store: ClientStore;
  readonly groupStore: GroupStore;
}

const ROUNDS = 60;
const AT_ONCE = 30;

async function boot(t: ExecutionContext) {
  const observed = servicesOf<Inside>(clients);
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const panel = await TestPanel.boot({ plugins: [observed.plugin, engine.plugin], clock });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const { store, groupStore } = observed.services;
  return { panel, engine, clock, store, groupStore };
}

test('after thousands of calls, many at once, memory, database and core agree', async (t) => {
  const { panel, engine, clock, store, groupStore } = await boot(t);
  const { below, pick } = random(23);
  const inbounds = [await panel.addInbound(), await panel.addInbound(), await panel.addInbound()];
  const name = () => `c${below(12)}`;
  const names = () => Array.from({ length: 1 + below(4) }, name);
  const group = () => pick(['', 'x', 'y', 'z']) ?? '';
  const some = () => [pick(inbounds) ?? 1];
  const fields = () => ({
    totalGB: below(3) * 4000,
    expiryTime: [0, clock.now() + below(60_000) - 5_000, -1 - below(90_000)][below(3)] ?? 0,
    enable: below(4) > 0,
    group: group(),
    comment: `comment ${below(9)}`,
  });
  const outcomes = new Map<number, number>();
  const post = async (path: string, body: object = {}) => {
    const { status } = await panel.call(`/panel/api/${path}`, { method: 'POST', body });
    outcomes.set(status, (outcomes.get(status) ?? 0) + 1);
    if (status >= 500) t.fail(`${path} ${JSON.stringify(body)}: ${status}`);
  };
  const calls: readonly (() => Promise<unknown>)[] = [
    () => post('clients/add', { client: { email: name(), ...fields() }, inboundIds: some() }),
    () =>
      post(
        'clients/bulkCreate',
        names().map((email) => ({ client: { email, ...fields() }, inboundIds: some() })),
      ),
    () => post(`clients/update/${name()}`, fields()),
    () => post(`clients/update/${name()}`, { email: name() }),
    () => post(`clients/update/${name()}`, { uuid: crypto.randomUUID() }),
    () => post(`clients/update/${name()}`, { enable: below(2) === 0 }),
    () => post(`clients/del/${name()}?keepTraffic=${below(2)}`),
    () => post('clients/bulkDel', { emails: names(), keepTraffic: below(2) === 0 }),
    () => post(`clients/${name()}/attach`, { inboundIds: some() }),
    () => post(`clients/${name()}/detach`, { inboundIds: some() }),
    () => post('clients/bulkAttach', { emails: names(), inboundIds: some() }),
    () => post('clients/bulkDetach', { emails: names(), inboundIds: some() }),
    () => post('clients/bulkEnable', { emails: names() }),
    () => post('clients/bulkDisable', { emails: names() }),
    () => post('clients/bulkAdjust', { emails: names(), addDays: 1, addBytes: below(5000) - 2000 }),
    () => post(`clients/resetTraffic/${name()}`),
    () => post('clients/bulkResetTraffic', { emails: names() }),
    () => post(`clients/updateTraffic/${name()}`, { upload: below(3000), download: below(3000) }),
    () => post('clients/groups/create', { name: group() || 'w' }),
    () => post('clients/groups/rename', { oldName: group() || 'w', newName: group() || 'w' }),
    () => post('clients/groups/delete', { name: group() || 'w' }),
    () => post('clients/groups/resetTraffic', { name: group() || 'w' }),
    () => post('clients/groups/bulkAdd', { emails: names(), group: group() || 'w' }),
    () => post('clients/groups/bulkRemove', { emails: names() }),
    async () => {
      for (const { id, inboundIds } of [...store.all()])
        if (below(2) === 0) engine.move(pick(inboundIds) ?? 1, id, below(900), below(900));
      clock.tick(5000);
    },
    async () => {
      if (below(6) > 0) return;
      const [gone] = inbounds.splice(below(inbounds.length), 1);
      await post(`inbounds/del/${gone}`);
      inbounds.push(await panel.addInbound());
    },
  ];
  const wantedUsers = () =>
    [...store.all()]
      .flatMap(({ id, inboundIds, enable, uuid }) =>
        enable ? inboundIds.map((inboundId) => [`i${inboundId}.c${id}`, uuid] as const) : [],
      )
      .sort();
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => pick(calls)?.()));
    await panel.kernel.settled();
    await store.fetches.flush();
    const plain = ({ projection }: ClientStore, roster = projection.state) =>
      roster.ordered('id').map((row) => ({ ...row }));
    t.deepEqual(plain(store), plain(store, await store.projection.fresh()), `round ${round}`);
    const { projection } = groupStore;
    t.deepEqual([...projection.state].sort(), [...(await projection.fresh())].sort(), `round ${round}`);
    const live = [...engine.users].filter(([key]) => inbounds.includes(Number(/^i(\d+)/.exec(key)?.[1])));
    t.deepEqual(live.map(([key, account]) => [key, account['id'] as string] as const).sort(), wantedUsers());
  }
  t.true((outcomes.get(200) ?? 0) > (ROUNDS * AT_ONCE) / 2, JSON.stringify([...outcomes]));
});

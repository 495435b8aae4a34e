// Users of inbounds that a program beside the core serves: the program gets them, the core gets the others.
import test from 'ava';
import type { Contributed, PluginContext } from '../../../kernel/index.js';
import type { UserRef } from '../contract.js';
import { AllUserServers, type UserServer } from '../users/user-servers.js';

const DONE = { pending: false, reason: '' };
const ref = (inboundId: number): UserRef => ({ inboundId, clientId: 7 });

function world(servers: readonly UserServer[]) {
  const faults: string[] = [];
  const told: (readonly UserRef[])[] = [];
  const entries = servers.map(
    (value): Contributed<UserServer> =>
      ({ value, plugin: 'beside', fault: (where: string) => void faults.push(where) }) as never,
  );
  const contributions = (() => entries) as unknown as PluginContext['contributions'];
  const core = async (users: readonly UserRef[]) => {
    told.push(users);
    return DONE;
  };
  return { all: new AllUserServers({ contributions }), core, told, faults };
}

test('each gets its own, and an answer that is pending wins', async (t) => {
  const got: (readonly UserRef[])[] = [];
  const server: UserServer = {
    serves: (id) => id === 2,
    reconcileUsers: async (users) => {
      got.push(users);
      return { pending: true, reason: 'it is busy' };
    },
  };
  const { all, core, told } = world([server]);
  t.deepEqual(await all.reconcile([ref(1), ref(2), ref(3)], core), { pending: true, reason: 'it is busy' });
  t.deepEqual(got, [[ref(2)]]);
  t.deepEqual(told, [[ref(1), ref(3)]]);
  t.true((await all.reconcile([ref(2)], core)).pending);
  t.is(told.length, 1, 'the core is not asked for nothing');
  await all.reconcile([], core);
  t.deepEqual(told.at(-1), []);
});

test('a program that fails is a fault of its plugin, and the core gets its users', async (t) => {
  const failing = () => {
    throw new Error('out of order');
  };
  const first = world([{ serves: (id) => id === 2, reconcileUsers: failing, reconcileInbounds: failing }]);
  const answer = await first.all.reconcile([ref(1), ref(2)], first.core);
  t.deepEqual(answer, { pending: true, reason: 'the plugin beside failed: out of order' });
  t.deepEqual(first.told, [[ref(1)]]);
  t.true((await first.all.reconcileInbounds(() => first.core([]))).pending);
  t.is(first.faults.length, 2);
  const second = world([{ serves: failing, reconcileUsers: failing }]);
  t.deepEqual(await second.all.reconcile([ref(1)], second.core), DONE);
  t.deepEqual(second.told, [[ref(1)]]);
});

test('a server that is last gets what no other serves, wherever it stands in the list', async (t) => {
  const got: Record<string, number[]> = { last: [], own: [] };
  const server = (name: string, serves: readonly number[], last?: true): UserServer => ({
    ...(last && { last }),
    serves: (id) => serves.includes(id),
    reconcileUsers: async (users) => {
      got[name] = users.map(({ inboundId }) => inboundId);
      return DONE;
    },
    reconcileInbounds: async (isServed) => {
      if (last) t.deepEqual([isServed(1), isServed(2), isServed(3)], [false, true, false]);
      return DONE;
    },
  });
  const { all, core, told } = world([server('last', [2, 3], true), server('own', [2])]);
  await all.reconcile([ref(1), ref(2), ref(3)], core);
  t.deepEqual(got, { last: [3], own: [2] });
  t.deepEqual(told, [[ref(1)]]);
  await all.reconcileInbounds(async () => DONE);
});

// Users of the core and of programs: those of inbounds that this machine runs.
import test from 'ava';
import type { UserRef } from '../../engine/contract.js';
import { afterClientSave, afterClientSwitch } from '../contract.js';
import { ClientCoreUsers } from '../model/core-users.js';

type Needs = ConstructorParameters<typeof ClientCoreUsers>[0];

test('neither the core nor a program gets users of an inbound that a node runs', (t) => {
  const rows = [{ id: 5, enable: true, inboundIds: [1, 2], uuid: 'u', password: 'p', flow: '' }];
  const inbound = (id: number) => ({ id, protocol: 'acme', settings: {}, streamSettings: {} });
  for (const runBy of ['core', 'program']) {
    const users = new ClientCoreUsers({
      store: { roster: { byId: () => rows[0], ordered: () => rows } },
      inbounds: {
        get: inbound,
        protocol: () => ({
          name: 'acme',
          account: () => ({ id: 'u' }),
          ...(runBy === 'program' && { runBy }),
        }),
      },
      localInbounds: { get: (id: number) => (id === 1 ? inbound(id) : undefined) },
      engine: {},
    } as unknown as Needs);
    const source = runBy === 'core' ? users : users.ofPrograms;
    t.deepEqual(
      [1, 2].map((id) => [...source.users(id)].map(({ name }) => name)),
      [['i1.c5'], []],
    );
    t.is(source.user({ inboundId: 2, clientId: 5 }), undefined);
    t.is(source.user({ inboundId: 1, clientId: 5 })?.name, 'i1.c5');
  }
});

test('whom another panel has edited, enabled or disabled is looked at in the own core', async (t) => {
  const told: (readonly UserRef[])[] = [];
  const users = new ClientCoreUsers({
    store: { byId: (id: number) => (id === 5 ? { id, inboundIds: [1, 2] } : undefined) },
    engine: { reconcileUsers: async (refs: readonly UserRef[]) => void told.push(refs) },
  } as unknown as Needs);
  const before = { id: 7, inboundIds: [3] };
  const after = { id: 7, inboundIds: [4] };
  await users.followOthers([
    { hook: afterClientSwitch.id, payload: { ids: [5, 6] } },
    { hook: 'others/hook', payload: { ids: [5] } },
    { hook: afterClientSave.id, payload: { changes: [{ before, after }, { before }, { after }] } },
  ]);
  t.deepEqual(
    told.map((refs) => refs.map(({ clientId, inboundId }) => `${clientId} ${inboundId}`)),
    [['5 1', '5 2', '7 3', '7 4', '7 3', '7 4']],
  );
  await users.followOthers([{ hook: afterClientSwitch.id, payload: { ids: [6] } }]);
  t.is(told.length, 1, 'of who is gone there is nothing to look at');
});

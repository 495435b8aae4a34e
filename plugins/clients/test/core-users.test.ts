// Users of the core and of programs: those of inbounds that this machine runs.
import test from 'ava';
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

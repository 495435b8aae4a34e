// What other panels tell of places, in memory: who is to be looked at, and that nothing stays behind.
import test from 'ava';
import { SharedPlaces } from '../shared-places.js';

type Begun = readonly [clientId: number, network: string, address: string, since: number];
interface Told {
  readonly panel: string;
  readonly begun: readonly Begun[];
  readonly ended: readonly (readonly [clientId: number, network: string])[];
}
interface Memory {
  load(): Promise<Map<string, unknown>>;
  apply(state: Map<string, unknown>, change: Told | { readonly gone: readonly string[] }): void;
}

async function memoryOf(others: string[]) {
  const asked: number[] = [];
  let memory: Memory | undefined;
  const needs = {
    db: { projection: (made: Memory) => Object.assign((memory = made), { state: new Map() }) },
    feed: {
      changes: (after: number) => {
        asked.push(after);
        return { seq: 7, seen: [], more: false };
      },
    },
    clock: { now: () => 1000 },
    tables: { live: { findAll: async () => [] } },
    panels: { name: 'a', hasOwnCore: true, others },
  };
  const shared = new SharedPlaces(needs as unknown as ConstructorParameters<typeof SharedPlaces>[0]);
  const state = await (memory as Memory).load();
  return {
    shared,
    state,
    asked,
    apply: (change: Parameters<Memory['apply']>[1]) => memory?.apply(state, change),
  };
}
const N = '198.51.100.1';

test('a client with a new place at another panel is looked at, once', async (t) => {
  const { shared, apply } = await memoryOf(['b']);
  apply({ panel: 'a', begun: [[1, N, N, 5]], ended: [] });
  t.deepEqual([...shared.takeChanged()], [], 'what this panel tells it has looked at');
  apply({ panel: 'b', begun: [[2, N, N, 5]], ended: [] });
  t.deepEqual([...shared.takeChanged()], [2]);
  t.deepEqual([...shared.takeChanged()], []);
  t.deepEqual([...shared.elsewhere(2)], [{ network: N, address: N, since: 5 }]);
  t.deepEqual([...shared.elsewhere(1)], [], 'its own are no places elsewhere');
});

test('nothing is kept of what has ended, of panels that are gone, and of an unknown use', async (t) => {
  const { state, apply } = await memoryOf(['b']);
  apply({ panel: 'b', begun: [1, 2].map((id): Begun => [id, N, N, 5]), ended: [] });
  apply({ panel: 'b', begun: [], ended: [[1, N]] });
  t.deepEqual([...(state.get('b') as Map<number, unknown>).keys()], [2]);
  apply({ panel: 'b', begun: [], ended: [[2, N]] });
  apply({ panel: 'c', begun: [], ended: [[2, N]] });
  t.is(state.size, 0);
  apply({ panel: 'b', begun: [[1, N, N, 5]], ended: [] });
  apply({ gone: ['b'] });
  t.is(state.size, 0);
});

test('asks the feed for what is new, and for all of it when another panel comes', async (t) => {
  const others = ['b'];
  const { shared, asked } = await memoryOf(others);
  await shared.run();
  await shared.run();
  t.deepEqual(asked, [0, 7]);
  others.length = 0;
  await shared.run();
  t.deepEqual(asked, [0, 7], 'alone it asks for nothing');
  others.push('c');
  await shared.run();
  t.deepEqual(asked, [0, 7, 0]);
});

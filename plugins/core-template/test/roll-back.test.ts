// Which template comes back after a failure of the core, when none does, and when one counts as one that ran.
import test from 'ava';
import type { Principal } from '../../../kernel/index.js';
import { TemplateService } from '../template-service.js';
import { type StoredTemplate, TemplateStore } from '../template-store.js';

const stored = (id: number, proved: boolean): StoredTemplate => ({
  id,
  proved,
  savedAt: 0,
  author: '',
  authorKind: '',
  note: '',
  body: `{"outbounds":[{"tag":"t${id}"}]}`,
});

function boot(rows: readonly StoredTemplate[], state: string, change: 'none' | 'hot' = 'hot') {
  const added: string[] = [];
  const proved: number[] = [];
  const core = { state };
  const store = new TemplateStore({
    db: { projection: () => ({ state: { current: rows[0] } }) } as never,
    tables: { templates: { findAll: async () => rows.map((row) => ({ get: () => row })) } } as never,
    clock: { now: () => 0 } as never,
  });
  store.add = async (_tx, body) => {
    added.push(body);
    return stored(99, true);
  };
  store.prove = async (_tx, { id }) => void proved.push(id);
  const service = new TemplateService({
    db: { write: async (run: (tx: unknown) => unknown) => run({}) } as never,
    engine: {
      status: () => ({ state: core.state, errorMsg: 'it crashed' }),
      preview: async () => ({ change }),
      reconcileConfig: async () => ({ pending: false }),
    } as never,
    store,
    log: { error: () => undefined } as never,
    self: { name: 'test' } as Principal,
    settings: { read: () => ({ outboundTestUrl: '' }) },
  });
  return { service, store, added, proved, core };
}

test('the last template that ran comes back after a failure with one that never did', async (t) => {
  const { service, added } = boot([stored(3, false), stored(2, false), stored(1, true)], 'error');
  await service.settle();
  t.deepEqual(added, [], 'the core that failed may have had the previous template');
  await service.settle();
  t.deepEqual(added, [stored(1, true).body]);
  const { store } = boot([stored(3, false)], 'error');
  t.is((await store.lastProved()).id, 0, 'or that of a new panel');
});

test('two failures with something else between them are not two in a row', async (t) => {
  const { service, added, core } = boot([stored(2, false), stored(1, true)], 'error');
  await service.settle();
  core.state = 'stopped';
  await service.settle();
  core.state = 'error';
  await service.settle();
  t.deepEqual(added, []);
  await service.settle();
  t.deepEqual(added, [stored(1, true).body]);
});

test('a template that ran stays whatever happens to the core, and so does one with which it runs again', async (t) => {
  for (const [rows, state] of [
    [[stored(3, true), stored(2, true)], 'error'],
    [[stored(3, false), stored(2, true)], 'running'],
  ] as const) {
    const { service, added } = boot(rows, state);
    await service.settle();
    await service.settle();
    t.deepEqual(added, []);
  }
});

test('a template counts as one that ran when the running core has all of it, and not before', async (t) => {
  for (const [state, change, expected] of [
    ['running', 'none', [3]],
    ['running', 'hot', []],
    ['stopped', 'none', []],
  ] as const) {
    const { service, proved } = boot([stored(3, false)], state, change);
    await service.settle();
    t.deepEqual(proved, expected, `${state}, ${change}`);
  }
});

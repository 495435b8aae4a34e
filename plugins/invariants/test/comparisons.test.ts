// What the comparisons find, and what they must not find, in states that a test makes.
import test from 'ava';
import type { Database, Projection } from '../../../kernel/index.js';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { withDatabase } from '../../../test/harness/edit-database.js';
import { invariants } from '../../../test/harness/invariants.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import clients from '../../clients/index.js';
import type { ClientStore } from '../../clients/model/client-store.js';
import type { ClientRow } from '../../clients/model/row.js';
import type { EngineApi } from '../../engine/contract.js';
import { coreHasUsers } from '../../engine/invariants.js';
import type { OwnCore } from '../../traffic/own-core.js';
import type { StreamBaselines } from '../../traffic/stream-baselines.js';
import type { Baselines } from '../../traffic/baselines.js';
import { readingsFollow } from '../../traffic/invariants.js';
import type { Invariant } from '../contract.js';
import { memoryMatches } from '../memory.js';
import { indexesMatch } from '../references.js';

async function found({ check }: Invariant): Promise<string[]> {
  const all: string[] = [];
  await check({
    add: (sentence) => void all.push(sentence),
    pause: () => undefined,
    signal: new AbortController().signal,
  });
  return all;
}

/** Each load gives the next of these states; the last one stays. */
function comparing(state: object, ...loads: object[]): Promise<string[]> {
  const projection = { plugin: 'shop', state, fresh: async () => loads.shift() ?? last };
  const last = loads.at(-1) as object;
  return found(memoryMatches([projection as unknown as Projection<object, unknown>]));
}

test('a part that memory lacks, has in vain or has otherwise is found, also in a map of a state', async (t) => {
  const one = new Map([[1, 'a']]);
  t.deepEqual(await comparing(one, new Map([[1, 'a']])), []);
  t.deepEqual(await comparing(new Map(), one), ['shop: 1 is nothing in memory, and "a" in the database']);
  t.deepEqual(await comparing(one, new Map()), ['shop: 1 is "a" in memory, and nothing in the database']);
  t.deepEqual(await comparing(one, new Map([[1, 'b']])), [
    'shop: 1 is "a" in memory, and "b" in the database',
  ]);
  const state = (name: string) => ({ count: 1, byId: new Map([[7, { name, at: new Date(0) }]]) });
  t.deepEqual(await comparing(state('x'), state('x')), []);
  const [sentence, ...more] = await comparing(state('x'), state('y'));
  t.regex(sentence ?? '', /^shop: byId 7 is .*"x".* in memory/);
  t.deepEqual(more, [], 'and not the whole map');
  t.deepEqual(await comparing({ isComparedApart: true, a: 1 }, { isComparedApart: true, a: 2 }), []);
});

test('what differs while a change is on its way is not found', async (t) => {
  const now = () => new Map([[1, 'a']]);
  const before = new Map([[1, 'old']]);
  t.deepEqual(await comparing(now(), before, now()), []);
  t.deepEqual(await comparing(now(), before, new Map([[2, 'x']]), now()), []);
  t.is((await comparing(now(), before, before, before)).length, 1);
});

test('what SQLite says of a broken index is found', async (t) => {
  const db = (...rows: object[]) =>
    ({ sql: { dialect: 'sqlite' }, query: async () => rows }) as unknown as Database;
  t.deepEqual(await found(indexesMatch(db({ integrity_check: 'ok' }))), []);
  t.deepEqual(await found(indexesMatch(db({ integrity_check: 'row 5 missing from index x' }))), [
    'row 5 missing from index x',
  ]);
});

test('a stored reading that is ahead of its counter is found in either direction', async (t) => {
  const reading = { epoch: 'now', up: 10, down: 100 };
  const state = new Map([[1, new Map([[2, reading]])]]);
  const check = async (epoch: string, up: number, down: number): Promise<string[]> => {
    const counters = async () => ({ epoch, users: [{ clientId: 1, inboundId: 2, up, down }] });
    const needs = {
      baselines: { memory: { state: new Map() } } as unknown as Baselines,
      streams: { memory: { state: new Map() } } as unknown as StreamBaselines,
      engine: { counters } as unknown as EngineApi,
    };
    const ofOne = await found(
      readingsFollow({
        ...needs,
        baselines: { memory: { state } } as unknown as Baselines,
        ownCore: { stream: undefined } as OwnCore,
      }),
    );
    const ofSeveral = await found(
      readingsFollow({
        ...needs,
        streams: { memory: { state: new Map([['core/a', state]]) } } as unknown as StreamBaselines,
        ownCore: { stream: 'core/a' } as OwnCore,
      }),
    );
    t.deepEqual(ofSeveral, ofOne);
    return ofOne;
  };
  t.deepEqual(await check('now', 10, 100), []);
  t.deepEqual(await check('now', 11, 170), []);
  t.regex((await check('now', 9, 170)).join(), /^client 1 on the inbound 2: 10 and 100 .* counts 9 and 170$/);
  t.is((await check('now', 11, 99)).length, 1);
  t.deepEqual(await check('next', 0, 0), [], 'of a core that is gone');
});

test('inbounds that the core lacks or has in vain are found', async (t) => {
  const check = (planned: readonly string[], running: Readonly<Record<string, string>>): Promise<string[]> =>
    found(
      coreHasUsers({
        running: () =>
          ({
            driver: {},
            users: { differences: async () => [{ name: 'i1.c1', how: 'surplus' }] },
            inbounds: {
              planned: new Map(planned.map((tag, id) => [id, { id, tag, protocol: 'vless' }])),
            },
            applied: { digests: { inbounds: running } },
          }) as never,
        accounts: { of: () => ({ users: 'api' }) } as never,
      }),
    );
  t.deepEqual(await check(['a'], { a: 'x' }), [
    'user i1.c1 of the inbound 0 (a) is in the core, and must not be',
  ]);
  t.deepEqual(await check(['a'], { a: '' }), ['the inbound 0 (a) does not run as it is stored']);
  t.deepEqual(await check([], { b: 'x' }), ['the core runs an inbound b that is not stored']);
});

test('clients beyond the first thousand, their limits and their places are compared', async (t) => {
  const inside = servicesOf<{ store: ClientStore }>(clients);
  const checks = invariants();
  await using panel = await TestPanel.boot({
    plugins: [inside.plugin, new FakeEngine().plugin],
    outside: [checks.plugin],
  });
  const inbound = await panel.addInbound();
  const count = 2100;
  await panel.get('/panel/api/clients/bulkCreate', {
    body: Array.from({ length: count }, (_, i) => ({ client: { email: `c${i}` }, inboundIds: [inbound] })),
  });
  t.deepEqual(await checks.broken(), []);
  const { roster } = inside.services.store;
  const edit = (statement: string) =>
    withDatabase(panel.dataDirectory, (sequelize) => sequelize.query(statement));
  for (const id of [1, 1000, 1001, count]) {
    await edit(`UPDATE clients SET comment = 'by hand' WHERE id = ${id}`);
    t.regex((await checks.broken()).join(), new RegExp(`: 1 +client ${id} \\(c${id - 1}\\): comment is`));
    await edit(`UPDATE clients SET comment = '' WHERE id = ${id}`);
  }
  await edit(`DELETE FROM clients WHERE id = ${count}`);
  t.regex(
    (await checks.broken()).join(),
    new RegExp(`client ${count} .* in memory, and not in the database`),
  );
  await roster.apply({ deleted: [count] });

  const last = roster.byId(count - 1);
  await roster.apply({ deleted: [count - 1] });
  t.regex(
    (await checks.broken()).join(),
    new RegExp(`client ${count - 1} \\(.*"c${count - 2}" in the database`),
  );
  await roster.apply({ added: last ? [last] : [] });

  const byEmail = roster.ordered('email') as ClientRow[];
  byEmail.reverse();
  t.regex((await checks.broken()).join(), /is not at its place in lists/);
  byEmail.reverse();

  await edit(`UPDATE clients SET depleted_cause = 'quota' WHERE id = 3`);
  await roster.apply({ edited: [{ id: 3, fields: { depletedCause: 'quota' } }] });
  t.regex((await checks.broken()).join(), /: 1 +client 3 \(c2\) is enabled, and at its quota/);
});

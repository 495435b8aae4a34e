// Runs on every database.
// Hooks inside a transaction: written together or not at all, and no plugin ends all writes.
import test from 'ava';
import {
  after,
  column,
  type Database,
  during,
  event,
  kernelErrors,
  PanelError,
  Refusal,
  type Row,
  table,
  type TableModel,
  tap,
  type TapOptions,
  type Tx,
} from '../index.js';
import type { Limits } from '../plugin/limits.js';
import { onSqlite } from '../../test/harness/database.js';
import { bare, latch, until, World } from './world.js';

const duringNote = during<{ readonly text: string; readonly who: string }>('notes/duringNote');
const afterNote = after<string>('notes/afterNote');
const noted = event<string>('notes/noted');
const afterRecord = after<string>('audit/afterRecord');
const notes = table('notes', { id: column.id(), text: column.text() });
const records = table('x_audit_records', { id: column.id(), text: column.text() });
type Records = TableModel<typeof records>;
type Listen = (payload: { readonly text: string; readonly who: string }, tx: Tx, own: Records) => unknown;

const created = (name: string) => [
  {
    name: '0001',
    up: ({ id }: { readonly id: string }) => [`CREATE TABLE ${name} (id ${id}, text VARCHAR(64) UNIQUE)`],
  },
];

async function boot(
  t: { teardown(fn: () => Promise<void>): void },
  listen: Listen,
  {
    options,
    limits,
    start,
  }: { options?: TapOptions; limits?: Partial<Limits>; start?: () => Promise<void> } = {},
) {
  const inner: { db?: Database; heard: string[] } = { heard: [] };
  const owner = bare('notes', {
    hooks: [duringNote, afterNote, noted],
    tables: { notes },
    migrations: created('notes'),
    start: ({ db }) => void (inner.db = db),
  });
  const audit = {
    ...bare('audit', {
      hooks: [afterRecord],
      tables: { records },
      migrations: created('x_audit_records'),
      taps: ({ tables }) => [
        tap(
          duringNote,
          (payload, tx) => listen(payload, tx, (tables as { records: Records }).records) as Promise<void>,
          options,
        ),
        tap(afterRecord, (text) => void inner.heard.push(text)),
      ],
      ...(start && { start }),
    }),
    outside: true,
  };
  const world = await World.boot([owner, audit], { limits: { slowStart: 20, ...limits } });
  t.teardown(() => world[Symbol.asyncDispose]());
  const { db } = inner;
  if (!db) throw new Error('the plugin did not start');
  const rows = async (of: string) =>
    (await db.query<Row<typeof notes>>(`SELECT text FROM ${of} ORDER BY id`)).map(({ text }) => text);
  return {
    world,
    db,
    heard: inner.heard,
    both: async () => [await rows('notes'), await rows('x_audit_records')],
    state: () => world.kernel.plugins().find(({ name }) => name === 'audit'),
    note: (text: string) =>
      db.write(async (tx) => {
        await tx.run('INSERT INTO notes (text) VALUES (:text)', { text });
        await tx.during(duringNote, { text, who: 'ada' });
      }),
  };
}
const crash = (): never => {
  throw new Error('out of ink');
};

test("commits a tap's rows with the write, and rolls them back if a later tap fails", async (t) => {
  const { note, both, heard } = await boot(t, async ({ text, who }, tx, own) => {
    await own.create({ text: `${who}: ${text}` }, { transaction: tx.t });
    tx.after(afterRecord, text);
    if (text === 'b') crash();
  });
  await note('a');
  const error = await t.throwsAsync(note('b'), { instanceOf: PanelError });
  t.like(error, { code: 'KERNEL_PLUGIN_FAILED', status: 503 });
  t.is(error?.message, 'nothing was saved: the plugin audit failed at notes/duringNote; the log says why');
  t.deepEqual(await both(), [['a'], ['ada: a']]);
  t.deepEqual(heard, ['a']);
});

test('a tap sees the rows of the write and can refuse it without a fault', async (t) => {
  const { note, both, world } = await boot(t, async (_, tx) => {
    const [{ many } = { many: 0 }] = await tx.query<{ many: number }>('SELECT COUNT(*) AS many FROM notes');
    if (Number(many) > 1) throw new Refusal('one note is enough');
  });
  await note('a');
  await t.throwsAsync(note('b'), { message: 'one note is enough', instanceOf: Refusal });
  t.deepEqual(await both(), [['a'], []]);
  t.deepEqual(world.faults(), []);
});

for (const [what, statement] of [
  ['an UPDATE', "UPDATE notes SET text = 'x'"],
  ['an INSERT', "INSERT INTO notes (text) VALUES ('x')"],
  ['a quoted name', "INSERT INTO `notes`(text) VALUES ('x')"],
  ['a DELETE', 'DELETE FROM notes WHERE id > 0'],
  ['two tables', 'UPDATE x_audit_records, notes SET notes.text = 1'],
  ['a join', 'DELETE x_audit_records, notes FROM x_audit_records JOIN notes WHERE 1'],
  ['a join that DELETE names last', 'DELETE FROM x_audit_records USING x_audit_records JOIN notes'],
  ['another schema', "INSERT INTO main.notes (text) VALUES ('x')"],
  ['a table expression', 'WITH x AS (SELECT 1) DELETE FROM notes WHERE id > 0'],
  ['DDL', 'DROP TABLE notes'],
  ['the end of the transaction', 'COMMIT'],
  ['the end of the transaction by a conflict', "INSERT OR ROLLBACK INTO x_audit_records (text) VALUES ('x')"],
] as const)
  test(`a tap cannot write tables of others: ${what}`, async (t) => {
    const { note, both, world } = await boot(t, (_, tx) => tx.run(statement));
    await t.throwsAsync(note('a'), { instanceOf: PanelError, message: /the plugin audit failed/ });
    t.deepEqual(await both(), [[], []]);
    t.regex(world.faults().join(), /write only what its `tables` declare \(x_audit_records\), so not: /);
  });

test('also checks a statement that is passed as an object', async (t) => {
  const { note, both, world } = await boot(t, async (_, tx, own) => {
    const query = "INSERT INTO notes (text) VALUES ('x')";
    await own.sequelize?.query({ query, values: [] }, { transaction: tx.t });
  });
  await t.throwsAsync(note('a'), { instanceOf: PanelError, message: /the plugin audit failed/ });
  t.deepEqual(await both(), [[], []]);
  t.regex(world.faults().join(), /write only what its `tables` declare/);
});

test('allows all statements about its own tables, as SQL or by a model', async (t) => {
  const { note, both, world } = await boot(t, async (_, tx, own) => {
    await tx.run("INSERT INTO x_audit_records (text) VALUES ('a'), ('b'), ('c')");
    await tx.run("UPDATE x_audit_records SET text = 'B' WHERE text = 'b'");
    await tx.change("DELETE FROM x_audit_records WHERE text = 'a'");
    await own.update({ text: 'C' }, { where: { text: 'c' }, transaction: tx.t });
    await own.bulkCreate([{ text: 'd' }, { text: 'e' }], { transaction: tx.t });
    await own.destroy({ where: { text: 'd' }, transaction: tx.t });
    if ((await own.count({ transaction: tx.t })) !== 3) crash();
    await tx.run('DELETE FROM x_audit_records WHERE text = :text', { text: 'UPDATE notes SET text = 1' });
  });
  await note('n').catch((error: unknown) => t.fail(`${String(error)} ${world.faults().join()}`));
  t.deepEqual(await both(), [['n'], ['B', 'C', 'e']]);
});

test('a tap that hangs blocks the writer only up to its limit, then its tx is closed', async (t) => {
  const hung = latch();
  const late: unknown[] = [];
  const { note, both, world } = await boot(
    t,
    async ({ text }, tx) => {
      if (text !== 'a') return;
      await hung.opened;
      await tx.run("INSERT INTO x_audit_records (text) VALUES ('late')").catch((error) => late.push(error));
    },
    { limits: { during: 20 } },
  );
  await t.throwsAsync(note('a'), { message: /the plugin audit failed/ });
  t.regex(world.faults().join(), /notes\/duringNote of audit took longer than 0.02 s/);
  hung.open();
  await until(() => late.length > 0, 'the late statement has failed');
  await note('b');
  t.deepEqual(await both(), [['b'], []]);
});

test('a tap that waits for the database is not late', async (t) => {
  const { note, both, world } = await boot(
    t,
    (_, tx) =>
      tx.query(
        // A statement that takes a second or so.
        onSqlite
          ? 'SELECT COUNT(*) FROM (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 3000000) SELECT x FROM c)'
          : 'SELECT SLEEP(1)',
      ),
    { limits: { during: 100 } },
  );
  await note('a').catch((error: unknown) => t.fail(`${String(error)} ${world.faults().join()}`));
  t.deepEqual(world.faults(), []);
  t.deepEqual(await both(), [['a'], []]);
});

test('a tap that asks the database without end is late', async (t) => {
  let isOver = false;
  const { note, world } = await boot(
    t,
    async (_, tx) => {
      while (!isOver) await tx.query('SELECT 1');
    },
    { limits: { during: 100 } },
  );
  await t.throwsAsync(note('a'), { message: /the plugin audit failed/ });
  isOver = true;
  t.regex(world.faults().join(), /notes\/duringNote of audit took longer than 0.1 s/);
});

test('closes the tx of a tap with the tap, while the write continues', async (t) => {
  let kept: Tx | undefined;
  const { db, both } = await boot(t, (_, tx) => void (kept = tx));
  await db.write(async (tx) => {
    await tx.during(duringNote, { text: 'a', who: 'ada' });
    await t.throwsAsync(async () => kept?.run("INSERT INTO x_audit_records (text) VALUES ('late')"));
    await tx.run("INSERT INTO notes (text) VALUES ('a')");
  });
  t.deepEqual(await both(), [['a'], []]);
});

test('a tap can call only its own hooks, and none after it returned', async (t) => {
  const told: unknown[] = [];
  let kept: Tx | undefined;
  const { db, heard } = await boot(t, async (_, tx) => {
    kept = tx;
    t.throws(() => tx.emit(noted, 'forged'), {
      message: /audit calls the hook notes\/noted, which is not its own/,
    });
    t.throws(() => tx.after(afterNote, 'forged'), { message: /audit calls the hook notes\/afterNote/ });
    await t.throwsAsync(async () => tx.during(duringNote, { text: 'b', who: 'forged' }), {
      message: /audit calls the hook notes\/duringNote/,
    });
    told.push('asked');
  });
  await db.write(async (tx) => {
    await tx.during(duringNote, { text: 'a', who: 'ada' });
    t.throws(() => kept?.after(afterRecord, 'late'), { message: /over/ });
  });
  t.deepEqual([told, heard], [['asked'], []]);
});

test('leaves a tap out after three failures in a row and logs it; a success resets the count', async (t) => {
  const heard: string[] = [];
  const { note, both, state } = await boot(t, ({ text }) => {
    heard.push(text);
    if (!text.startsWith('good')) crash();
  });
  for (const text of ['1', '2']) await t.throwsAsync(note(text));
  await note('good 3');
  for (const text of ['4', '5']) await t.throwsAsync(note(text));
  t.is(state()?.reason, '');
  await t.throwsAsync(note('6'));
  await note('7');
  t.deepEqual(await both(), [['good 3', '7'], []]);
  t.false(heard.includes('7'));
  t.like(state(), { state: 'running' });
  t.regex(
    state()?.reason ?? '',
    /notes\/duringNote .*failed 3 times in a row .* until the panel is restarted/,
  );
});

test('does not count a full disk as a fault of the tap', async (t) => {
  const { note, both, world, state } = await boot(t, () => {
    throw kernelErrors.STORAGE();
  });
  for (const text of ['1', '2', '3', '4']) await t.throwsAsync(note(text));
  t.deepEqual(world.faults(), []);
  t.is(state()?.reason, '');
  t.deepEqual(await both(), [[], []]);
});

test('while its plugin starts, a strict tap refuses writes; another tap is skipped', async (t) => {
  for (const strict of [true, false]) {
    const slow = latch();
    const { note, both, world } = await boot(
      t,
      ({ text }, tx) => tx.run('INSERT INTO x_audit_records (text) VALUES (:text)', { text }),
      { options: { strict }, start: () => slow.opened },
    );
    if (strict)
      await t.throwsAsync(note('a'), { code: kernelErrors.PLUGIN_OFF.code, message: /still starting/ });
    else await note('a');
    slow.open();
    await world.kernel.started;
    await note('b');
    t.deepEqual(await both(), strict ? [['b'], ['b']] : [['a', 'b'], ['b']]);
  }
});

test("a constraint error of the tap's own table is its fault, not the write's", async (t) => {
  const { note, both } = await boot(
    t,
    async (_, tx, own) => void (await own.create({ text: 'one' }, { transaction: tx.t })),
  );
  await note('a');
  const error = await t.throwsAsync(note('b'), { instanceOf: PanelError });
  t.is(error?.code, 'KERNEL_PLUGIN_FAILED');
  t.deepEqual(await both(), [['a'], ['one']]);
});

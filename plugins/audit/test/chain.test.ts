// Runs on every database in test:full.
// Whoever writes the database by hand is found out; who is content with the API is not.
import test, { type ExecutionContext } from 'ava';
import { FakeEngine, TestPanel, weirCommand } from '../../../test/harness/index.js';
import { editDatabase, withDatabase } from '../../../test/harness/edit-database.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import { definePlugin, Refusal, stage, tap } from '../../../kernel/index.js';
import { duringClientSave } from '../../clients/contract.js';
import plugin from '../index.js';
import type { SecretsApi } from '../../secrets/contract.js';
import type { Retention } from '../retention.js';
import { sealedKey } from '../tables.js';

const API = '/panel/api/x/audit';
const DAY = 86_400_000;
interface Verified {
  readonly entries: number;
  readonly changes: number;
  readonly problems: readonly string[];
  readonly head: string;
}

const REFUSED = 'refused';
/** Rolls changes back that were recorded. */
const refusing = definePlugin({
  name: 'refusing',
  version: '1.0.0',
  api: 1,
  about: 'Refuses a comment.',
  taps: () => [
    tap(
      duringClientSave,
      ({ changes }) => {
        if (changes.some(({ after }) => after?.comment === REFUSED)) throw new Refusal('no');
      },
      { stage: stage.LAST },
    ),
  ],
});

async function boot(t: ExecutionContext) {
  let now = Date.UTC(2026, 0, 15);
  // Jobs do not run: years pass at once.
  const clock = { now: () => now, every: () => () => undefined, advance: (ms: number) => void (now += ms) };
  const observed = servicesOf<{ readonly retention: Retention }>(plugin);
  const panel = await TestPanel.boot({ clock, plugins: [new FakeEngine().plugin, observed.plugin] });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const inbound = await panel.addInbound();
  for (const email of ['a', 'b', 'c', 'd']) await panel.addClient(email, [inbound]);
  // A session would end while years pass.
  const { token } = (
    await panel.call<{ token: string }>('/panel/api/setting/apiTokens/create', { body: { name: 'bot' } })
  ).body.obj;
  const bot = { anonymous: true, headers: { authorization: `Bearer ${token}` } };
  return {
    panel,
    clock,
    verify: (body?: object) =>
      panel.get<Verified>(`${API}/verify`, { method: 'POST', ...(body && { body }), ...bot }),
    edit: (...statements: string[]) => editDatabase(panel.dataDirectory, statements),
    comment: (email: string, comment: string) =>
      panel.get(`/panel/api/clients/update/${email}`, { body: { comment }, ...bot }),
    retain: () => observed.services.retention.run(),
    last: () =>
      withDatabase(panel.dataDirectory, async (sequelize) => {
        const [[row]] = (await sequelize.query('SELECT MAX(entry) AS id FROM audit_changes')) as [
          { id: number }[],
          unknown,
        ];
        return Number(row?.id);
      }),
  };
}

const NOT_WRITTEN = /^entry \d+, or the hash before it, is not what was written/;
const change = (entry: string, hash: string): string =>
  `INSERT INTO audit_changes (entry, at, who_kind, who, ip, area, kind, name, subject, fields, hash)
   SELECT ${entry}, at, who_kind, who, ip, area, kind, name, subject, fields, ${hash} FROM audit_changes ORDER BY id DESC LIMIT 1`;
const TAMPERED: readonly [string, (last: number) => string, RegExp][] = [
  ['who', (id) => `UPDATE audit_changes SET who = 'eve' WHERE entry = ${id - 1}`, NOT_WRITTEN],
  ['as what', (id) => `UPDATE audit_changes SET who_kind = 'plugin' WHERE entry = ${id}`, NOT_WRITTEN],
  ['when', (id) => `UPDATE audit_changes SET at = at + 1 WHERE entry = ${id}`, NOT_WRITTEN],
  ['from where', (id) => `UPDATE audit_changes SET ip = '192.0.2.1' WHERE entry = ${id}`, NOT_WRITTEN],
  ['what', (id) => `UPDATE audit_changes SET fields = '{}' WHERE entry = ${id}`, NOT_WRITTEN],
  ['how', (id) => `UPDATE audit_changes SET kind = 'deleted' WHERE entry = ${id}`, NOT_WRITTEN],
  ['of whom', (id) => `UPDATE audit_changes SET name = 'x' WHERE entry = ${id}`, NOT_WRITTEN],
  ['of which', (id) => `UPDATE audit_changes SET subject = '99' WHERE entry = ${id}`, NOT_WRITTEN],
  [
    'an entry that is gone',
    (id) => `DELETE FROM audit_changes WHERE entry = ${id - 2}`,
    /^entry \d+ is missing/,
  ],
  [
    'entries that are gone',
    (id) => `DELETE FROM audit_changes WHERE entry IN (${id - 2}, ${id - 1})`,
    /^entries \d+ to \d+ are missing/,
  ],
  ['a change too many', (id) => change(String(id), 'hash'), NOT_WRITTEN],
  ['an entry too many', (id) => change(String(id + 1), 'hash'), NOT_WRITTEN],
  ['an entry of long ago', () => change('2', 'hash'), /^entry 2 stands behind entry \d+/],
  ['the beginning', () => 'DELETE FROM audit_changes WHERE entry = 1', /^entry 1 is missing/],
];

test('finds each change by hand', async (t) => {
  const { verify, edit, last } = await boot(t);
  await edit('CREATE TABLE kept AS SELECT * FROM audit_changes');
  for (const [what, statements, says] of TAMPERED) {
    t.deepEqual((await verify()).problems, []);
    await edit(statements(await last()));
    t.regex((await verify()).problems[0] ?? 'nothing', says, what);
    await edit('DELETE FROM audit_changes', 'INSERT INTO audit_changes SELECT * FROM kept');
  }
  await edit('DROP TABLE kept');
});

test('an end that is gone is found by a head that was noted', async (t) => {
  const { panel, comment, verify, edit, last } = await boot(t);
  const { head, entries } = await verify();
  t.is(Number(head.split(':')[0]), entries);
  await comment('a', 'x');
  t.deepEqual((await verify({ head })).problems, [], 'more came since');
  const id = await last();
  await edit(`DELETE FROM audit_changes WHERE entry >= ${id - 1}`);
  t.regex(
    (await verify({ head })).problems.at(-1) ?? '',
    /is missing: the last one is \d+, so entries were removed/,
  );
  const wrong = `1:${'0'.repeat(64)}`;
  t.regex((await verify({ head: wrong })).problems[0] ?? '', /entry 1 has not the hash that was noted/);
  for (const bad of ['1', '1:xyz', `-1:${'0'.repeat(64)}`])
    t.is((await panel.call(`${API}/verify`, { body: { head: bad } })).status, 400, bad);
});

test('an end that is gone is found while the panel runs that wrote it', async (t) => {
  const { verify, edit, last, comment } = await boot(t);
  const id = await last();
  await edit(`DELETE FROM audit_changes WHERE entry = ${id}`);
  t.regex(
    (await verify()).problems.join(),
    new RegExp(`^the last entry is ${id - 1}, and this panel has written entry ${id}`),
  );
  await comment('a', 'x');
  t.deepEqual((await verify()).problems, [`entry ${id} is missing`], 'the next one names the gap');
});

test('a beginning that is cut off by hand is found, whatever is said of where the chain begins', async (t) => {
  const { verify, edit, last, clock, comment, retain } = await boot(t);
  const cut = (id: number) => [
    `UPDATE audit_chain SET removed_id = ${id}, removed_hash = (SELECT hash FROM audit_changes WHERE entry = ${id} AND hash <> '')`,
    `DELETE FROM audit_changes WHERE entry <= ${id}`,
  ];
  await edit(...cut((await last()) - 2));
  t.regex((await verify()).problems[0] ?? '', /^the record does not begin where it should/);
  clock.advance(366 * DAY);
  await comment('a', 'young');
  await retain();
  t.deepEqual((await verify()).problems, [], 'what was signed by the panel is right again');
  await edit("UPDATE audit_chain SET removed_mac = ''");
  t.regex((await verify()).problems[0] ?? '', /^the record does not begin where it should/);
});

test('a key that was given up stays visible, also without the entries before it', async (t) => {
  const options = { plugins: [new FakeEngine().plugin] };
  for (const tampered of ["UPDATE audit_chain SET mac_key = 'not sealed'", 'DELETE FROM audit_chain']) {
    const first = await TestPanel.boot(options);
    await first.addInbound();
    await first.stop();
    const { dataDirectory } = first;
    await editDatabase(dataDirectory, [tampered]);
    const second = await TestPanel.boot({ ...options, dataDirectory });
    await second.stop();
    await editDatabase(dataDirectory, [
      'DELETE FROM audit_changes WHERE entry <= (SELECT removed_id FROM audit_chain)',
    ]);
    await using panel = await TestPanel.boot({ ...options, dataDirectory });
    await panel.addInbound();
    const { problems } = await panel.get<Verified>(`${API}/verify`, { method: 'POST' });
    t.regex(problems.join(), /^0 changes up to entry \d+ cannot be verified/, tampered);
  }
});

test('a chain of an earlier release is signed at the first start', async (t) => {
  const options = { plugins: [new FakeEngine().plugin] };
  const secrets = servicesOf<{ readonly secrets: SecretsApi }>(plugin);
  const first = await TestPanel.boot({ plugins: [...options.plugins, secrets.plugin] });
  await first.addInbound();
  const api = secrets.services.secrets;
  const old = await withDatabase(first.dataDirectory, async (sequelize) => {
    const [[row]] = (await sequelize.query('SELECT mac_key AS sealed FROM audit_chain')) as [
      { sealed: string }[],
      unknown,
    ];
    return api.seal(sealedKey, 1, api.open(sealedKey, 1, row?.sealed ?? '').slice(2));
  });
  await first.stop();
  const { dataDirectory } = first;
  await editDatabase(dataDirectory, [`UPDATE audit_chain SET mac_key = '${old}', removed_mac = ''`]);
  await using panel = await TestPanel.boot({ ...options, dataDirectory });
  const verify = async () => (await panel.get<Verified>(`${API}/verify`, { method: 'POST' })).problems;
  t.deepEqual(await verify(), []);
  await editDatabase(dataDirectory, ["UPDATE audit_chain SET removed_mac = ''"]);
  t.is((await verify()).length, 1);
});

test('a clock that is wrong for an hour costs a day of entries, not the record', async (t) => {
  const { comment, clock, verify, retain } = await boot(t);
  for (let day = 0; day < 5; day++) {
    await comment('a', `day ${day}`);
    clock.advance(DAY);
  }
  const before = (await verify()).entries;
  clock.advance(3650 * DAY);
  await retain();
  clock.advance(-3650 * DAY);
  await retain();
  const { entries, problems } = await verify();
  t.deepEqual(problems, []);
  t.is(entries, 4, `of ${before}: those of the first day are gone`);
  // An entry of the wrong clock does not keep what is before and behind it.
  clock.advance(3650 * DAY);
  await comment('a', 'far ahead');
  clock.advance(-3650 * DAY);
  await comment('a', 'now');
  clock.advance(400 * DAY);
  await comment('a', 'a year later');
  for (let hours = 0; hours < 10; hours++) await retain();
  t.is((await verify()).entries, 1);
});

test('old entries are removed from the beginning, and the chain still holds', async (t) => {
  const { comment, clock, verify, edit, retain, last } = await boot(t);
  clock.advance(366 * DAY);
  await comment('a', 'young');
  await retain();
  const { entries, problems } = await verify();
  t.is(entries, 1);
  t.deepEqual(problems, []);
  await comment('b', 'next');
  t.deepEqual((await verify()).problems, []);
  clock.advance(366 * DAY);
  await retain();
  t.is((await verify()).entries, 1, 'the last one stays');
  const id = await last();
  await edit('UPDATE audit_chain SET removed_id = removed_id - 1');
  t.regex((await verify()).problems[1] ?? '', new RegExp(`^entry ${id - 1} is missing`));
});

test('a clock that went back keeps nothing for ever and removes nothing young', async (t) => {
  const { comment, clock, verify, retain } = await boot(t);
  const before = (await verify()).entries;
  clock.advance(-DAY);
  await comment('a', 'earlier');
  clock.advance(365.5 * DAY);
  await retain();
  t.is((await verify()).entries, before + 1, 'the first ones are young enough');
});

test('of too many changes the oldest ones are removed, whatever their age', async (t) => {
  const { panel, comment, verify, retain } = await boot(t);
  await panel.get('/panel/api/setting/update', { body: { auditMostChanges: 1000 } });
  const [{ id: inbound } = { id: 0 }] = await panel.get<{ id: number }[]>('/panel/api/inbounds/list');
  const items = Array.from({ length: 999 }, (_, i) => ({
    client: { email: `c${i}` },
    inboundIds: [inbound],
  }));
  await panel.get('/panel/api/clients/bulkCreate', { body: items });
  await comment('a', 'x');
  await retain();
  const { changes, problems } = await verify();
  t.is(changes, 1000);
  t.deepEqual(problems, []);
});

test('weir audit verify says what it found', async (t) => {
  const { panel, edit, last, verify } = await boot(t);
  const { head } = await verify();
  const fine = await weirCommand(panel.dataDirectory, ['audit', 'verify', '--head', head]);
  t.is(fine.code, 0, fine.complained);
  t.regex(fine.said, new RegExp(`head ${head}`));
  await edit(`UPDATE audit_changes SET who = 'eve' WHERE entry = ${await last()}`);
  const { code, said } = await weirCommand(panel.dataDirectory, ['audit', 'verify']);
  t.not(code, 0);
  t.regex(said, /entry \d+, or the hash before it, is not what was written/);
});

test('a key that is gone is an error, and not a chain that holds', async (t) => {
  const { panel, edit } = await boot(t);
  await edit('DELETE FROM audit_chain');
  const { status, body } = await panel.call(`${API}/verify`, { method: 'POST' });
  t.is(status, 409, JSON.stringify(body));
  t.regex(body.msg, /without its key/);
});

test('a new panel, and a write after one that was rolled back, go on behind the last entry', async (t) => {
  const options = { plugins: [new FakeEngine().plugin], outside: [refusing] };
  const first = await TestPanel.boot(options);
  const inbound = await first.addInbound();
  const items = ['x', 'y', 'z'].map((email) => ({ client: { email }, inboundIds: [inbound] }));
  await first.get('/panel/api/clients/bulkCreate', { body: items });
  await first.stop();
  await using panel = await TestPanel.boot({ ...options, dataDirectory: first.dataDirectory });
  for (const comment of ['one', REFUSED, 'two', REFUSED, REFUSED, 'three'])
    t.is(
      (await panel.call('/panel/api/clients/update/y', { body: { comment } })).status,
      comment === REFUSED ? 422 : 200,
    );
  const { problems } = await panel.get<Verified>(`${API}/verify`, { method: 'POST' });
  t.deepEqual(problems, []);
  const found = await panel.get<{ fields: { comment: unknown[] } }[]>(`${API}/changes?name=y&kind=updated`);
  t.deepEqual(
    found.map(({ fields }) => fields.comment),
    [
      ['two', 'three'],
      ['one', 'two'],
      ['', 'one'],
    ],
  );
});

test('changes at the same time follow each other', async (t) => {
  const { comment, verify } = await boot(t);
  const emails = ['a', 'b', 'c', 'd'];
  await Promise.all(Array.from({ length: 80 }, (_, i) => comment(emails[i % 4] as string, `c${i}`)));
  const { problems, entries } = await verify();
  t.deepEqual(problems, []);
  t.true(entries > 80);
});

test('an entry of another past does not fit, although its hash was right', async (t) => {
  const options = { plugins: [new FakeEngine().plugin] };
  const first = await TestPanel.boot(options);
  const inbound = await first.addInbound();
  for (const email of ['a', 'b']) await first.addClient(email, [inbound]);
  await first.stop();
  // What a backup brings back, and what happens then instead.
  const { dataDirectory } = first;
  const newest = (of: string): string => `(SELECT id FROM (SELECT MAX(id) AS id FROM ${of}) AS newest)`;
  await editDatabase(dataDirectory, [
    'CREATE TABLE kept AS SELECT * FROM audit_changes',
    `DELETE FROM audit_changes WHERE id = ${newest('audit_changes')}`,
  ]);
  await using panel = await TestPanel.boot({ ...options, dataDirectory });
  const verify = async () => (await panel.get<Verified>(`${API}/verify`, { method: 'POST' })).problems;
  for (const email of ['c', 'd']) await panel.addClient(email, [inbound]);
  t.deepEqual(await verify(), []);
  await editDatabase(dataDirectory, [
    'DELETE FROM audit_changes WHERE entry = (SELECT MAX(entry) FROM kept)',
    `INSERT INTO audit_changes SELECT * FROM kept WHERE id = ${newest('kept')}`,
    'DROP TABLE kept',
  ]);
  t.regex((await verify())[0] ?? '', NOT_WRITTEN);
});

test('with a lost key a new chain begins, and what was before it is said to be without proof', async (t) => {
  const options = { plugins: [new FakeEngine().plugin] };
  const first = await TestPanel.boot(options);
  const inbound = await first.addInbound();
  await first.addClient('a', [inbound]);
  await first.stop();
  const { dataDirectory } = first;
  await editDatabase(dataDirectory, ["UPDATE audit_chain SET mac_key = 'not sealed'"]);
  await using panel = await TestPanel.boot({ ...options, dataDirectory });
  t.true(panel.log.some((line) => line.includes('the key of the record of changes is lost')));
  await panel.addClient('b', [inbound]);
  const verify = async () => (await panel.get<Verified>(`${API}/verify`, { method: 'POST' })).problems;
  t.regex(
    (await verify()).join(),
    /^\d+ changes up to entry \d+ cannot be verified: the chain begins after them$/,
  );
  await editDatabase(dataDirectory, ["UPDATE audit_changes SET who = 'eve' WHERE name = 'b'"]);
  t.regex((await verify())[1] ?? '', NOT_WRITTEN);
});

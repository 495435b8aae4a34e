// Runs on every database.
// Two admins edit one record: one wins, and the other one learns what is there now.
import test, { type ExecutionContext } from 'ava';
import { definePlugin, tap } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel, until } from '../../../test/harness/index.js';
import type { Answer } from '../../../test/harness/api.js';
import type { PanelOptions } from '../../../test/harness/panel.js';
import { afterClientSave } from '../../clients/contract.js';
import { notAsDescribed } from '../../../test/harness/described-failure.js';
import { folderFor } from '../../../test/harness/folder-for.js';
import { withDatabase } from '../../../test/harness/edit-database.js';
import { kinds } from './kinds.js';

interface Conflict {
  readonly current: Record<string, unknown> & { readonly version: string };
  readonly version: string;
}
const START = Date.UTC(2026, 0, 15, 12);

async function boot(t: ExecutionContext, options: PanelOptions = {}): Promise<TestPanel> {
  const panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    clock: new FakeClock(START),
    ...options,
  });
  t.teardown(() => panel[Symbol.asyncDispose]());
  return panel;
}
const edit = (panel: TestPanel, path: string, body: object, version: string) =>
  panel.call<Conflict>(path, { body, headers: { 'if-match': `"${version}"` } });
const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status).sort((a, b) => a - b);

for (const [name, make] of Object.entries(kinds)) {
  test.serial(`${name}: of two edits of one version one wins, and the other gets both sides`, async (t) => {
    const panel = await boot(t);
    const { read, update, edits, shows, remove } = await make(panel);
    const before = await read(panel);
    t.regex(before.version, /^[0-9a-f]{16}$/);
    t.is((await read(panel)).version, before.version, 'a version that changes by itself');

    const answers = await Promise.all(edits.map((body) => edit(panel, update, body, before.version)));
    t.deepEqual(statuses(answers), [200, 409], answers.map(({ text }) => text).join('\n'));
    const lost = answers.findIndex(({ status }) => status === 409);
    const { body, headers } = answers[lost] as Answer<Conflict>;
    t.is(await notAsDescribed(panel, answers[lost] as Answer), '');
    const after = await read(panel);
    t.not(after.version, before.version);
    t.not(shows(after.record), shows(before.record));
    t.is(body.code, 'RECORD_VERSIONS_CHANGED');
    t.is(body.obj.version, after.version);
    t.is(body.obj.current.version, after.version);
    t.is(headers.get('etag'), `"${after.version}"`);
    t.is(shows(body.obj.current), shows(after.record));

    // With what it has learnt, the other one can save.
    const mine = edits[lost] as Record<string, unknown>;
    const again = await edit(panel, update, mine, body.obj.version);
    t.is(again.status, 200, again.text);
    const saved = await read(panel);
    t.not(shows(saved.record), shows(after.record));
    // What is set back has its earlier version, except where each save is a record of its own.
    if (!remove) return;
    const [path, sent] = remove;
    const stale = await edit(panel, path, sent, after.version);
    t.deepEqual([stale.status, stale.body.obj?.version], [409, saved.version], stale.text);
    const removed = await edit(panel, path, sent, saved.version);
    t.is(removed.status, 200, removed.text);
    t.is((await edit(panel, path, sent, saved.version)).status, 404);
  });
}

for (const name of ['client', 'inbound', 'host', 'settings', 'subBalancer'] as const)
  test.serial(`${name}: of fifty edits of one version exactly one is done`, async (t) => {
    const panel = await boot(t);
    const make = kinds[name];
    const { read, update, edits } = await (make as NonNullable<typeof make>)(panel);
    const [field = '', value] = Object.entries(edits[0])[0] ?? [];
    const editOf = (i: number) =>
      typeof value === 'number' ? 100 + i : Array.isArray(value) ? [`h${i}.example`] : `edit ${i}`;
    for (let round = 0; round < 2; round++) {
      const { version } = await read(panel);
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          edit(panel, update, { [field]: editOf(round * 50 + i) }, version),
        ),
      );
      t.deepEqual(statuses(answers), [200, ...Array.from({ length: 49 }, () => 409)]);
      const won = answers.findIndex(({ status }) => status === 200);
      t.deepEqual((await read(panel)).record[field], editOf(round * 50 + won));
    }
  });

test.serial(
  'an edit of the version before fails also where memory does not have the last write yet',
  async (t) => {
    let open: () => void = () => undefined;
    let gate: Promise<void> | undefined;
    let waiting = 0;
    const slow = definePlugin({
      name: 'slow',
      version: '1.0.0',
      api: 1,
      about: 'Holds up memory.',
      taps: () => [
        tap(afterClientSave, async () => {
          waiting += 1;
          await gate;
        }),
      ],
    });
    const panel = await boot(t, { plugins: [new FakeEngine().plugin, slow] });
    const inbound = await panel.addInbound();
    await panel.addClient('ada', [inbound]);
    await panel.addClient('bob', [inbound]);
    const { version } = await panel.get<{ version: string }>('/panel/api/clients/get/ada');
    waiting = 0;
    gate = new Promise((resolve) => (open = resolve));
    const other = panel.call('/panel/api/clients/update/bob', { body: { comment: 'holds up' } });
    await until(() => waiting === 1, 'the first write waits for its hook');
    const first = panel.call('/panel/api/clients/update/ada', { body: { comment: 'first' } });
    await until(
      () =>
        withDatabase(panel.dataDirectory, async (db) => {
          const [rows] = await db.query("SELECT comment FROM clients WHERE email = 'ada'");
          return (rows[0] as { readonly comment: string }).comment === 'first';
        }),
      'the second write is committed',
    );
    t.is(
      (await panel.get<{ comment: string }>('/panel/api/clients/get/ada')).comment,
      '',
      'memory is behind; the test needs that',
    );
    const late = edit(panel, '/panel/api/clients/update/ada', { comment: 'second' }, version);
    const answer = await late;
    open();
    t.is(answer.status, 409, answer.text);
    t.not(answer.body.obj.version, version);
    t.deepEqual(statuses(await Promise.all([other, first])), [200, 200]);
    t.is((await panel.get<{ comment: string }>('/panel/api/clients/get/ada')).comment, 'first');
  },
);

test.serial('what is counted changes no version, and a restart does not either', async (t) => {
  const engine = new FakeEngine();
  const clock = new FakeClock(START);
  const options = { plugins: [engine.plugin], clock, dataDirectory: await folderFor(t) };
  const panel = await TestPanel.boot(options);
  const inbound = await panel.addInbound({ total: 1_000_000 });
  const ada = await panel.addClient('ada', [inbound], { totalGB: 1000 });
  const versions = async (of: TestPanel) => [
    (await of.get<{ version: string }>('/panel/api/clients/get/ada')).version,
    (await of.get<{ version: string }>(`/panel/api/inbounds/get/${inbound}`)).version,
    (await of.get<{ version: string }>('/panel/api/setting/all', { method: 'POST' })).version,
    (await of.get<{ version: string }>('/panel/api/engine/', { method: 'POST' })).version,
  ];
  const before = await versions(panel);
  engine.move(inbound, ada.id, 30, 40);
  clock.tick(5_000);
  const traffic = async () =>
    (await panel.get<{ traffic: { up: number } }>('/panel/api/clients/get/ada')).traffic;
  await until(async () => (await traffic()).up === 30, 'the bytes are counted');
  t.deepEqual(await versions(panel), before);
  const list = await panel.get<{ items: { version: string }[] }>('/panel/api/clients/list/paged');
  t.is(list.items[0]?.version, before[0]);

  await panel.stop();
  const again = await boot(t, options);
  t.deepEqual(await versions(again), before);
});

const HOSTILE = [
  '',
  'abc',
  '"abc"',
  'W/"0123456789abcdef"',
  '"0123456789ABCDEF"',
  '"0123456789abcdef",',
  '**',
];
test.serial(
  'an If-Match that is no version is refused by name, and so is one that nothing keeps to',
  async (t) => {
    const panel = await boot(t);
    await panel.addClient('ada', [await panel.addInbound()]);
    const update = (header: string, path = '/panel/api/clients/update/ada') =>
      panel.call<{ issues: { path: string }[] }>(path, {
        body: { comment: 'x' },
        headers: { 'if-match': header },
      });
    for (const header of HOSTILE) {
      const { status, body } = await update(header);
      t.deepEqual(
        [status, body.code, body.obj?.issues?.[0]?.path],
        [400, 'RECORD_VERSIONS_IF_MATCH', 'If-Match'],
        JSON.stringify(header),
      );
    }
    const { version } = await panel.get<{ version: string }>('/panel/api/clients/get/ada');
    t.is((await update(`"0123456789abcdef" , "${version}"`)).status, 200);
    t.is((await update('*')).status, 200);
    t.is((await update('*', '/panel/api/clients/update/nobody')).status, 404);
    t.is((await update(`"${version}"`, '/panel/api/clients/update/nobody')).status, 404);

    const bulk = await panel.call<{ issues: { path: string }[] }>('/panel/api/clients/bulkEnable', {
      body: { emails: ['ada'] },
      headers: { 'if-match': `"${version}"` },
    });
    t.deepEqual(
      [bulk.status, bulk.body.code, bulk.body.obj.issues[0]?.path],
      [400, 'RECORD_VERSIONS_NO_VERSIONS', 'If-Match'],
    );
    t.is((await panel.call('/panel/api/clients/list', { headers: { 'if-match': '"x"' } })).status, 400);
    t.is((await panel.call('/panel/api/clients/list', { headers: { 'if-match': '*' } })).status, 200);
  },
);

test.serial('an edit that changes nothing is refused as well when the version is another', async (t) => {
  const panel = await boot(t);
  await panel.addClient('ada', [await panel.addInbound()], { comment: 'one' });
  const { version } = await panel.get<{ version: string }>('/panel/api/clients/get/ada');
  await panel.get('/panel/api/clients/update/ada', { body: { comment: 'two' } });
  t.is((await edit(panel, '/panel/api/clients/update/ada', { comment: 'two' }, version)).status, 409);
  await panel.get('/panel/api/clients/update/ada', { body: { comment: 'one' } });
  // Set back, it is what its editor has read.
  t.is((await edit(panel, '/panel/api/clients/update/ada', { comment: 'one' }, version)).status, 200);
});

test.serial('a version of the settings changes with a secret, and tells nothing of it', async (t) => {
  const panel = await boot(t);
  const read = () => panel.get<{ version: string }>('/panel/api/setting/all', { method: 'POST' });
  const names = Object.keys(await read()).filter((name) => name.startsWith('has'));
  t.log(names.join(' '));
  const before = (await read()).version;
  await panel.get('/panel/api/setting/update', { body: { smtpPassword: 'open sesame' } });
  const after = (await read()).version;
  t.not(after, before);
  const other = await boot(t);
  await other.get('/panel/api/setting/update', { body: { smtpPassword: 'open sesame' } });
  t.not((await other.get<{ version: string }>('/panel/api/setting/all', { method: 'POST' })).version, after);
});

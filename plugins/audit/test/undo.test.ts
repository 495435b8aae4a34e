// Runs on every database.
// An edit is undone by the service of its owner, and only where nobody has changed it since.
import test, { type ExecutionContext } from 'ava';
import { FakeClock, FakeEngine, TestPanel, until } from '../../../test/harness/index.js';
import type { PanelOptions } from '../../../test/harness/panel.js';
import { notAsDescribed } from '../../../test/harness/described-failure.js';
import { folderFor } from '../../../test/harness/folder-for.js';
import { withDatabase } from '../../../test/harness/edit-database.js';

interface Change {
  readonly id: number;
  readonly entry: number;
  readonly area: string;
  readonly kind: string;
  readonly name: string;
  readonly undoes: number;
  readonly undoable: boolean;
  readonly undoableReason: string;
}
interface Conflicts {
  readonly count: number;
  readonly conflicts: readonly {
    readonly id: string;
    readonly name: string;
    readonly fields: Readonly<Record<string, readonly [unknown, unknown]>>;
  }[];
}
const API = '/panel/api/x/audit';
const START = Date.UTC(2026, 0, 15, 12);
const HOUR = 3_600_000;

async function boot(t: ExecutionContext, options: PanelOptions = {}) {
  const engine = new FakeEngine();
  const clock = new FakeClock(START);
  const panel = await TestPanel.boot({ plugins: [engine.plugin], clock, ...options });
  t.teardown(() => panel[Symbol.asyncDispose]());
  return { panel, engine, clock, ...at(panel) };
}
const at = (panel: TestPanel) => ({
  last: async (query = '') => {
    const [change] = await panel.get<Change[]>(`${API}/changes?limit=1${query}`);
    if (!change) throw new Error('nothing is recorded');
    return change;
  },
  undo: (entry: number) => panel.call<Conflicts>(`${API}/${entry}/undo`, { method: 'POST' }),
  client: (email: string) => panel.get<Record<string, unknown>>(`/panel/api/clients/get/${email}`),
});
const without = (record: Record<string, unknown>, ...names: string[]) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));

test.serial(
  'an edit of a client is undone, as an entry that names it, and the undo can be undone',
  async (t) => {
    const { panel, last, undo, client } = await boot(t);
    const [one, two] = [await panel.addInbound(), await panel.addInbound()];
    await panel.addClient('ada', [one], { totalGB: 5, comment: 'first' });
    t.is((await last()).undoable, false);
    t.regex((await last()).undoableReason, /delete it/);
    const before = await client('ada');
    await panel.get('/panel/api/clients/update/ada', {
      body: { totalGB: 7, comment: 'second', password: 'another password', group: 'family' },
    });
    const edit = await last('&area=client');
    t.deepEqual([edit.undoable, edit.undoableReason, edit.undoes], [true, '', 0]);
    const edited = await client('ada');

    const answer = await undo(edit.entry);
    t.is(answer.status, 200, answer.text);
    t.deepEqual(without(await client('ada'), 'updatedAt'), without(before, 'updatedAt'));
    const undone = await last('&area=client');
    t.deepEqual([undone.undoes, undone.kind, undone.undoable], [edit.entry, 'updated', true]);
    t.like(answer.body.obj, { entry: undone.entry, undoes: edit.entry, changes: 1 });
    const found = (await panel.get<Change[]>(`${API}/changes?area=client`)).find(({ id }) => id === edit.id);
    t.is(found?.undoableReason, `it was undone by entry ${undone.entry}`);

    t.deepEqual([(await undo(edit.entry)).status, (await undo(edit.entry)).body.code], [409, 'AUDIT_UNDONE']);
    t.is((await undo(undone.entry)).status, 200);
    t.deepEqual(without(await client('ada'), 'updatedAt'), without(edited, 'updatedAt'));

    await panel.get('/panel/api/clients/ada/attach', { body: { inboundIds: [two] } });
    t.is((await undo((await last('&area=client')).entry)).status, 200);
    t.deepEqual((await client('ada'))['inboundIds'], [one]);
    await panel.get('/panel/api/clients/ada/detach', { body: { inboundIds: [one] } });
    t.is((await undo((await last('&area=client')).entry)).status, 200);
    t.deepEqual((await client('ada'))['inboundIds'], [one]);

    const { problems } = await panel.get<{ problems: string[] }>(`${API}/verify`, { body: {} });
    t.deepEqual(problems, []);
    t.deepEqual(panel.faults, []);
  },
);

test.serial('what somebody has changed since is not set back; what else was changed stays', async (t) => {
  const { panel, last, undo, client } = await boot(t);
  await panel.addClient('ada', [await panel.addInbound()], { totalGB: 5, password: 'first secret' });
  await panel.get('/panel/api/clients/update/ada', { body: { totalGB: 7, password: 'second secret' } });
  const { entry } = await last('&area=client');
  await panel.get('/panel/api/clients/update/ada', { body: { comment: 'of another admin' } });
  await panel.get('/panel/api/clients/update/ada', { body: { totalGB: 9, password: 'third secret' } });
  const refused = await undo(entry);
  t.deepEqual([refused.status, refused.body.code], [409, 'AUDIT_CHANGED_SINCE']);
  t.is(await notAsDescribed(panel, refused), '');
  t.deepEqual(refused.body.obj.conflicts, [
    {
      id: refused.body.obj.conflicts[0]?.id ?? '',
      name: 'ada',
      fields: { totalGB: [7, 9], password: ['(secret)', '(secret)'] },
    },
  ]);
  t.false(refused.text.includes('secret"') && /(first|second|third) secret/.test(refused.text));
  t.is((await client('ada'))['totalGB'], 9);

  await panel.get('/panel/api/clients/update/ada', { body: { totalGB: 7, password: 'second secret' } });
  t.is((await undo(entry)).status, 200);
  t.like(await client('ada'), { totalGB: 5, password: 'first secret', comment: 'of another admin' });

  await panel.get('/panel/api/clients/update/ada', { body: { totalGB: 11 } });
  const gone = (await last('&area=client')).entry;
  await panel.get('/panel/api/clients/del/ada', { method: 'POST' });
  const deleted = await undo(gone);
  t.deepEqual([deleted.status, deleted.body.obj.conflicts[0]?.fields], [409, { '': ['there', 'deleted'] }]);
});

test.serial(
  'a deleted client comes back with its id, secrets, counters, attachments and links',
  async (t) => {
    const { panel, engine, clock, last, undo, client } = await boot(t);
    const [one, two] = [await panel.addInbound(), await panel.addInbound()];
    const ada = await panel.addClient('ada', [one, two], {
      totalGB: 1_000,
      comment: 'x',
      group: 'family',
      trafficReset: 'monthly',
    });
    await panel.get('/panel/api/clients/ada/externalLinks', {
      body: { externalLinks: [{ kind: 'link', value: 'vless://a@b.example:443#c', remark: 'c' }] },
    });
    engine.move(one, ada.id, 30, 40);
    clock.tick(5_000);
    const used = async () => {
      const { up, down } = (await client('ada'))['traffic'] as { up: number; down: number };
      return [up, down];
    };
    await until(async () => (await used())[0] === 30, 'the bytes are counted');
    const before = await client('ada');
    await panel.get('/panel/api/clients/del/ada', { method: 'POST' });
    const { entry, undoable } = await last('&area=client');
    t.true(undoable);
    clock.tick(5_000);

    const answer = await undo(entry);
    t.is(answer.status, 200, answer.text);
    const names = ['updatedAt', 'externalLinks'];
    t.deepEqual(without(await client('ada'), ...names), without(before, ...names));
    t.is(((await client('ada'))['externalLinks'] as unknown[]).length, 1);

    // The core still has its counters of before: they are not counted again, and what it moves now is.
    engine.move(one, ada.id, 1, 2);
    clock.tick(5_000);
    await until(async () => (await used())[0] !== 30, 'the bytes after the undo are counted');
    t.deepEqual(await used(), [31, 42]);

    t.is((await undo(entry)).body.code, 'AUDIT_UNDONE');
    // Its id is not used up by that.
    await panel.get('/panel/api/clients/del/ada', { method: 'POST' });
    t.is((await undo((await last('&area=client')).entry)).status, 200);
    t.deepEqual(await used(), [31, 42]);
    t.deepEqual(panel.faults, []);
  },
);

test.serial('a deletion is not undone where its email or its inbounds are taken or gone', async (t) => {
  const { panel, last, undo, client } = await boot(t);
  const [one, two] = [await panel.addInbound(), await panel.addInbound()];
  await panel.addClient('ada', [one, two]);
  await panel.get('/panel/api/clients/del/ada', { method: 'POST' });
  const { entry } = await last('&area=client');
  await panel.addClient('ADA', [one]);
  const taken = await undo(entry);
  t.deepEqual([taken.status, taken.body.code], [409, 'CLIENTS_EMAIL_TAKEN']);
  await panel.get('/panel/api/clients/del/ADA', { method: 'POST' });
  await panel.get(`/panel/api/inbounds/del/${two}`, { method: 'POST' });
  const answer = await undo(entry);
  t.is(answer.status, 200, answer.text);
  t.true(answer.body.msg.includes(`without the inbounds ${two}`), answer.body.msg);
  t.deepEqual((await client('ada'))['inboundIds'], [one]);
});

test.serial('bulk calls are undone as a whole, within a bound', async (t) => {
  const { panel, last, undo, client } = await boot(t);
  const inbound = await panel.addInbound();
  const emails = Array.from({ length: 40 }, (_, i) => `user${i}`);
  for (const email of emails) await panel.addClient(email, [inbound], { totalGB: 100, expiryTime: 0 });
  await panel.get('/panel/api/clients/update/user3', { body: { enable: false } });
  const all = () => Promise.all(emails.map(client));
  const before = (await all()).map((one) => without(one, 'updatedAt'));
  const calls: [string, Record<string, unknown>][] = [
    ['bulkDisable', { emails }],
    ['bulkAdjust', { emails, addBytes: 50 }],
    ['bulkDel', { emails }],
  ];
  for (const [path, body] of calls) {
    await panel.get(`/panel/api/clients/${path}`, { body });
    const { entry, undoable, undoableReason } = await last('&area=client');
    t.true(undoable, `${path}: ${undoableReason}`);
    const answer = await undo(entry);
    t.is(answer.status, 200, `${path}: ${answer.text}`);
    t.deepEqual(
      (await all()).map((one) => without(one, 'updatedAt')),
      before,
      path,
    );
  }
  // One of them was edited since: none is set back.
  await panel.get('/panel/api/clients/bulkDisable', { body: { emails } });
  const { entry } = await last('&area=client');
  await panel.get('/panel/api/clients/update/user7', { body: { enable: true } });
  const refused = await undo(entry);
  t.deepEqual([refused.status, refused.body.obj.count], [409, 1]);
  t.is((await client('user8'))['enable'], false);

  await panel.get('/panel/api/clients/bulkResetTraffic', { body: { emails } }).catch(() => undefined);
  await panel.get('/panel/api/clients/updateTraffic/user1', { body: { upload: 5, download: 6 } });
  t.regex((await last('&area=client')).undoableReason, /counters/);
  const counters = await undo((await last('&area=client')).entry);
  t.deepEqual([counters.status, counters.body.code], [422, 'AUDIT_NOT_UNDOABLE']);
});

test.serial('inbounds, hosts, fallbacks, balancers, settings and the template are set back', async (t) => {
  const { panel, last, undo } = await boot(t);
  const inbound = await panel.addInbound({ remark: 'one' });
  const child = await panel.addInbound();
  const [{ groupId }] = await panel.get<[{ groupId: string }]>('/panel/api/hosts/add', {
    body: { remark: 'front', inboundIds: [inbound], hosts: ['front.example', 'other.example:8443'] },
  });
  const balancer = await panel.get<{ id: number }>('/panel/api/sub-balancers', {
    body: { remark: 'fast', inboundIds: [inbound] },
  });
  const template = (tag: string) => ({ engineSetting: { outbounds: [{ tag, protocol: 'freedom' }] } });
  await panel.get('/panel/api/engine/update', { body: template('before') });
  const host = `/panel/api/hosts`;
  const cases: [area: string, read: () => Promise<unknown>, path: string, body: Record<string, unknown>][] = [
    [
      'inbound',
      () => panel.get(`/panel/api/inbounds/get/${inbound}`),
      `/panel/api/inbounds/update/${inbound}`,
      { remark: 'two', settings: { decryption: 'none', note: 'kept' } },
    ],
    [
      'host',
      () => panel.get(`${host}/get/${groupId}`),
      `${host}/update/${groupId}`,
      { remark: 'back', hosts: ['third.example'], sni: 'x.example' },
    ],
    ['host', () => panel.get(`${host}/get/${groupId}`), `${host}/del/${groupId}`, {}],
    [
      'fallback',
      () => panel.get(`/panel/api/inbounds/${inbound}/fallbacks`),
      `/panel/api/inbounds/${inbound}/fallbacks`,
      { fallbacks: [{ childId: child, path: '/x' }] },
    ],
    [
      'subBalancer',
      () => panel.get('/panel/api/sub-balancers'),
      `/panel/api/sub-balancers/${balancer.id}`,
      { remark: 'slow', strategy: 'leastLoad', memberWeights: { [inbound]: 3 } },
    ],
    [
      'subBalancer',
      () => panel.get('/panel/api/sub-balancers'),
      `/panel/api/sub-balancers/${balancer.id}/del`,
      {},
    ],
    [
      'setting',
      () => panel.get('/panel/api/setting/all', { method: 'POST' }),
      '/panel/api/setting/update',
      { pageSize: 33, subTitle: 'other' },
    ],
    [
      'coreTemplate',
      async () =>
        JSON.parse(
          (await panel.get<{ engineSetting: string }>('/panel/api/engine/', { method: 'POST' }))
            .engineSetting,
        ),
      '/panel/api/engine/update',
      template('after'),
    ],
  ];
  const plain = (of: unknown): unknown =>
    JSON.parse(
      JSON.stringify(of, (key, value: unknown) => (/^(updatedAt|createdAt)$/.test(key) ? undefined : value)),
    );
  for (const [area, read, path, body] of cases) {
    const before = plain(await read().catch((error: Error) => error.message));
    await panel.get(path, { body });
    const after = await read().catch(() => undefined);
    t.notDeepEqual(plain(after ?? null), before, path);
    const { entry, undoable, undoableReason } = await last(`&area=${area}`);
    t.true(undoable, `${path}: ${undoableReason}`);
    const answer = await undo(entry);
    t.is(answer.status, 200, `${path}: ${answer.text}`);
    t.deepEqual(plain(await read()), before, path);
    t.is((await last(`&area=${area}`)).undoes, entry, path);
    t.is((await undo(entry)).body.code, 'AUDIT_UNDONE', path);
  }
  await panel.get('/panel/api/setting/update', { body: { smtpPassword: 'open sesame' } });
  const secret = await last('&area=setting');
  t.deepEqual([secret.undoable, (await undo(secret.entry)).status], [false, 422]);
  await panel.get(`/panel/api/inbounds/del/${child}`, { method: 'POST' });
  t.is((await undo((await last('&area=inbound')).entry)).status, 422);
  t.deepEqual(panel.faults, []);
});

test.serial('what is too old, of another kind or not there is refused with why', async (t) => {
  const { panel, clock, last, undo } = await boot(t);
  await panel.addClient('ada', [await panel.addInbound()]);
  await panel.get('/panel/api/clients/update/ada', { body: { comment: 'x' } });
  const { entry } = await last('&area=client');
  clock.tick(24 * HOUR + 1);
  await panel.login();
  const old = await undo(entry);
  t.deepEqual([old.status, old.body.code], [410, 'AUDIT_TOO_OLD']);
  t.is((await last('&area=client')).undoableReason, 'it is too old to be undone');
  await until(async () => {
    const rows = await withDatabase(panel.dataDirectory, async (db) =>
      db.query('SELECT COUNT(*) AS count FROM audit_kept'),
    );
    return Number((rows[0][0] as { count: number }).count) === 0;
  }, 'what is kept is removed');
  t.is((await undo(entry)).body.code, 'AUDIT_TOO_OLD');
  await panel.get('/panel/api/setting/apiTokens/create', { body: { name: 'bot' } });
  const token = await last('&area=token');
  t.deepEqual([(await undo(token.entry)).body.code, token.undoable], ['AUDIT_NOT_UNDOABLE', false]);
  for (const hostile of ['0', '-1', '1e3', '9007199254740993', 'x', '1%00', '%2e%2e', '1%2f..%2f2'])
    t.true(
      [400, 404].includes((await panel.call(`${API}/${hostile}/undo`, { method: 'POST' })).status),
      hostile,
    );
  t.is((await undo(999_999)).body.code, 'AUDIT_NO_ENTRY');
  t.is((await panel.call(`${API}/${entry}/undo`, { method: 'POST', anonymous: true })).status, 401);
});

test.serial(
  'an undo survives a restart, holds no secret in clear text, and of two at once one is done',
  async (t) => {
    const engine = new FakeEngine();
    const options = {
      plugins: [engine.plugin],
      clock: new FakeClock(START),
      dataDirectory: await folderFor(t),
    };
    const first = await TestPanel.boot(options);
    await first.addClient('ada', [await first.addInbound()], { password: 'open sesame one', totalGB: 5 });
    await first.get('/panel/api/clients/update/ada', { body: { password: 'open sesame two', totalGB: 7 } });
    const { entry } = await at(first).last('&area=client');
    await first.stop();
    const stored = await withDatabase(options.dataDirectory, async (db) => {
      const [rows] = await db.query('SELECT sealed FROM audit_kept');
      return JSON.stringify(rows);
    });
    t.true(stored.length > 100);
    t.false(stored.includes('open sesame'));
    const { panel, undo, client } = await boot(t, options);
    const answers = await Promise.all([undo(entry), undo(entry), undo(entry)]);
    t.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409]);
    t.like(await client('ada'), { password: 'open sesame one', totalGB: 5 });
    t.deepEqual(panel.faults, []);
  },
);

test.serial('an edit that comes between the check of an undo and its write is not lost', async (t) => {
  const { panel, last, undo, client } = await boot(t);
  await panel.addClient('ada', [await panel.addInbound()], { totalGB: 1 });
  for (let round = 0; round < 10; round++) {
    await panel.get('/panel/api/clients/update/ada', { body: { totalGB: 100 + round } });
    const { entry } = await last('&area=client');
    const [answer] = await Promise.all([
      undo(entry),
      panel.get('/panel/api/clients/update/ada', { body: { totalGB: 200 + round } }),
    ]);
    // Whichever came first: what the other admin saved is there.
    t.is((await client('ada'))['totalGB'], 200 + round, `${answer.status} ${answer.body.code}`);
  }
});

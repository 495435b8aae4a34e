// Runs on every database in test:full.
// External links of clients: replaced as a set, shown, exported, imported, and gone with their client.
import test from 'ava';
import type { Database } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, refused, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import type { ExternalLink } from '../contract.js';
import plugin from '../index.js';
import type { LinkStore } from '../link-store.js';

const API = '/panel/api/clients';
const A = 'trojan://secret@a.example.org:443#a';
const B = 'trojan://secret@b.example.org:443#b';
const SUB = 'https://example.org/sub/x';
const clock = new FakeClock();
const observed = servicesOf<{ store: LinkStore; db: Database }>(plugin);
let panel: TestPanel;
let inbound: number;

test.before(async () => {
  panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, observed.plugin], clock });
  inbound = await panel.addInbound();
});
test.after.always(() => panel[Symbol.asyncDispose]());

type Sent = Readonly<Record<string, unknown>>;
const save = (email: string, externalLinks: unknown) =>
  panel.get(`${API}/${email}/externalLinks`, { body: { externalLinks } });
const shown = async (email: string): Promise<readonly ExternalLink[]> =>
  (await panel.get<{ externalLinks: ExternalLink[] }>(`${API}/get/${email}`)).externalLinks;
const memoryMatches = async () => {
  const { projection } = observed.services.store;
  const plain = (state: typeof projection.state) => JSON.stringify([...state].sort(([a], [b]) => a - b));
  return plain(projection.state) === plain(await projection.fresh());
};

test.serial('a set is stored in its order with what was left out filled in', async (t) => {
  const { id: clientId } = await panel.addClient('ann', [inbound]);
  t.deepEqual(await shown('ann'), []);
  await save('ann', [
    { value: ` ${A} ` },
    { kind: 'link', value: '   ' },
    {
      kind: 'subscription',
      value: SUB,
      remark: 'r',
      enable: false,
      expiryTime: 5,
      namePrefix: 'P ',
      lastFetchAt: 9,
      id: 1,
    },
    { kind: '', value: B, remark: null, enable: null, expiryTime: null, namePrefix: null },
  ]);
  const base = {
    clientId,
    kind: 'link',
    remark: '',
    enable: true,
    expiryTime: 0,
    namePrefix: '',
    lastFetchAt: 0,
    lastFetchError: '',
    createdAt: clock.now(),
  };
  const links = await shown('ann');
  t.deepEqual(
    links.map(({ id: _, ...link }) => link),
    [
      { ...base, value: A, sortIndex: 0 },
      {
        ...base,
        kind: 'subscription',
        value: SUB,
        remark: 'r',
        enable: false,
        expiryTime: 5,
        namePrefix: 'P ',
        sortIndex: 1,
      },
      { ...base, value: B, sortIndex: 2 },
    ] as unknown as Omit<ExternalLink, 'id'>[],
  );
  t.true(await memoryMatches());
});

test.serial('what stays in a set keeps its id, its creation and its last fetch', async (t) => {
  const before = await shown('ann');
  const [, sub] = before;
  // What will fetch them comes later: here its columns are written by hand.
  await observed.services.db.write(async (tx) => {
    await tx.run(
      'UPDATE client_external_links SET last_fetch_at = 7, last_fetch_error = :error WHERE id = :id',
      {
        error: 'timeout',
        id: sub?.id,
      },
    );
  });
  clock.tick(1000);
  await save('ann', [
    { kind: 'subscription', value: SUB, remark: 'other' },
    { value: 'trojan://secret@c.example.org:443' },
    { value: A },
    { value: A, remark: 'twice' },
  ]);
  const links = await shown('ann');
  t.is(links.length, 4);
  t.like(links[0], { id: sub?.id, remark: 'other', enable: true, createdAt: sub?.createdAt, sortIndex: 0 });
  t.like(links[0], { lastFetchAt: 7, lastFetchError: 'timeout' });
  t.like(links[3], { lastFetchAt: 0, createdAt: clock.now() });
  t.is(links[1]?.createdAt, clock.now());
  t.is(links[2]?.id, before[0]?.id);
  t.is(new Set(links.map(({ id }) => id)).size, 4);
  await save('ann', []);
  t.deepEqual(await shown('ann'), []);
  t.true(await memoryMatches());
});

test.serial('links of a client that was deleted meanwhile are refused, not lost', async (t) => {
  const link = { kind: 'link', value: A, remark: '', enable: true, expiryTime: 0, namePrefix: '' } as const;
  await t.throwsAsync(observed.services.store.replace(999_999, [link], { kind: 'session', name: 'admin' }), {
    message: 'the client was deleted meanwhile',
  });
  t.true(await memoryMatches());
});

test.serial('an invalid link refuses the whole set and names its index', async (t) => {
  await save('ann', [{ value: A }]);
  const path = `${API}/ann/externalLinks`;
  const bad = async (externalLinks: unknown, field: string, code = 'EXTERNAL_LINKS_INVALID') =>
    refused(t, panel, path, { body: { externalLinks } }, { status: 400, code, field });
  await bad([{ value: B }, { value: 'hello' }], 'externalLinks.1.value');
  await bad([{ value: '' }, { value: 'hello' }], 'externalLinks.1.value');
  await bad([{ kind: 'subscription', value: A }], 'externalLinks.0.value');
  await bad([{ kind: 'link', value: SUB }], 'externalLinks.0.value');
  for (const [link, field] of [
    [{ kind: 'other', value: A }, 'kind'],
    [{ value: 5 }, 'value'],
    [{ value: `${A}${'x'.repeat(9000)}` }, 'value'],
    [{ value: A, expiryTime: -1 }, 'expiryTime'],
    [{ value: A, expiryTime: 1.5 }, 'expiryTime'],
    [{ value: A, enable: 'maybe' }, 'enable'],
    [{ value: A, remark: 'a\nb' }, 'remark'],
    [{ value: A, remark: 'x'.repeat(256) }, 'remark'],
    [{ value: A, namePrefix: { a: 1 } }, 'namePrefix'],
  ] as const)
    await bad([link], `externalLinks.0.${field}`, 'KERNEL_INVALID');
  for (const list of ['x', {}, undefined, null, Array.from({ length: 101 }, () => ({ value: A }))])
    await bad(list, 'externalLinks', 'KERNEL_INVALID');
  for (const email of ['nobody', "' OR 1=1 --", '{"$gt":""}'])
    await refused(
      t,
      panel,
      `${API}/${encodeURIComponent(email)}/externalLinks`,
      { body: { externalLinks: [{ value: B }] } },
      { status: 404, code: 'CLIENTS_NOT_FOUND', field: 'email' },
    );
  t.is((await panel.call(path, { body: { externalLinks: [] }, anonymous: true })).status, 401);
  t.deepEqual(
    (await shown('ann')).map(({ value }) => value),
    [A],
  );
});

test.serial('links come with new clients, travel with an export and go with their client', async (t) => {
  const externalLinks: Sent[] = [{ value: A }, { kind: 'subscription', value: SUB, namePrefix: 'x' }];
  await panel.get(`${API}/add`, { body: { client: { email: 'bob' }, inboundIds: [inbound], externalLinks } });
  const values = async (email: string) => (await shown(email)).map(({ value }) => value);
  t.deepEqual(await values('bob'), [A, SUB]);
  await refused(
    t,
    panel,
    `${API}/add`,
    { body: { client: { email: 'eve' }, inboundIds: [inbound], externalLinks: [{ value: 'x' }] } },
    { status: 400, code: 'EXTERNAL_LINKS_INVALID', field: 'externalLinks.0.value' },
  );
  const bulk = await panel.get<{ created: number; skipped: { index: number; code: string }[] }>(
    `${API}/bulkCreate`,
    {
      body: [
        { client: { email: 'b1' }, inboundIds: [inbound], externalLinks: [{ value: B }] },
        { client: { email: 'b2' }, inboundIds: [inbound], externalLinks: [{ value: 'x' }] },
        { client: { email: 'b3' }, inboundIds: [inbound], externalLinks: null },
        { client: { email: 'b4' }, inboundIds: [inbound], externalLinks: [{ value: A }] },
      ],
    },
  );
  t.is(bulk.created, 3);
  t.like(bulk.skipped, [{ index: 1, code: 'EXTERNAL_LINKS_INVALID' }]);
  t.deepEqual(await values('b1'), [B]);
  t.deepEqual(await values('b3'), []);
  t.deepEqual(await values('b4'), [A]);

  const items = await panel.get<{ client: { email: string }; externalLinks?: Sent[] }[]>(`${API}/export`);
  t.deepEqual(
    items.map(({ client: { email }, externalLinks: links }) => [email, links?.map(({ value }) => value)]),
    [
      ['ann', [A]],
      ['bob', [A, SUB]],
      ['b1', [B]],
      ['b3', undefined],
      ['b4', [A]],
    ],
  );
  const before = await shown('bob');
  const emails = items.map(({ client: { email } }) => email);
  await panel.get(`${API}/update/b1`, { body: { email: 'renamed' } });
  t.deepEqual(await values('renamed'), [B]);
  await panel.get(`${API}/bulkDel`, { body: { emails: [...emails, 'renamed'] } });
  t.is(observed.services.store.projection.state.size, 0);
  t.true(await memoryMatches());
  await panel.get(`${API}/import`, { body: { data: JSON.stringify(items) } });
  t.deepEqual(
    (await shown('bob')).map(({ kind, value, namePrefix, enable }) => [kind, value, namePrefix, enable]),
    before.map(({ kind, value, namePrefix, enable }) => [kind, value, namePrefix, enable]),
  );
  t.deepEqual(await panel.get(`${API}/export`), items);
  t.true(await memoryMatches());
  t.deepEqual(panel.faults, []);
});

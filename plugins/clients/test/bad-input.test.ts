import test from 'ava';
import { FakeClock, FakeEngine, refused, TestPanel } from '../../../test/harness/index.js';

const ADD = '/panel/api/clients/add';
const BULK = '/panel/api/clients/bulkCreate';
const UUID = '0b81f4a1-6b1c-4f6e-9d3a-2f4f7a3f1d10';
/** VLESS ignores the third group. */
const TWIN = '0b81f4a1-6b1c-1111-9d3a-2f4f7a3f1d10';
let engine: FakeEngine;
let panel: TestPanel;
let inboundId: number;

test.before(async () => {
  engine = new FakeEngine();
  panel = await TestPanel.boot({ plugins: [engine.plugin], clock: new FakeClock() });
  inboundId = await panel.addInbound();
  await panel.addClient('Somebody@example.com', [inboundId], {
    uuid: UUID,
    subId: 'sub-1',
    password: 'pass-1',
    auth: 'auth-1',
    comment: 'kept',
  });
  await panel.addClient('other', [inboundId]);
});
test.after.always(() => panel?.[Symbol.asyncDispose]());

const UNSAFE = Number.MAX_SAFE_INTEGER + 1;
const AMOUNT = ['five', '1.5', '-1', 'NaN', -1, 1.5, UNSAFE, -UNSAFE, true, [], {}];
const LINE = [5, true, [], {}, 'a\u0000b', 'a\nb', 'half \ud83d', 'x'.repeat(256)];
const NAME = [
  5,
  true,
  [],
  {},
  'a b',
  'a/b',
  'a\\b',
  'a\tb',
  'a\u0000b',
  'a\u007fb',
  'a\u00a0b',
  'a\u2028b',
  'half\ud83d',
  '.',
  '..',
  'x'.repeat(256),
];
/** For each field: values that it must not take. */
const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  email: [...NAME, null, '', '   ', 'groups', 'List', 'UPDATE', 'bulkCreate', ' export '],
  id: [1.5, true, [], {}, 'not a uuid', '0b81f4a1', -1.5, `${UUID} `],
  uuid: [5, true, [], 'not a uuid', `{${UUID}}`, UUID.replaceAll('-', ''), `${UUID}0`],
  subId: NAME,
  password: LINE,
  auth: LINE,
  adTag: [5, true, [], {}, 'a', 'g'.repeat(32), 'a'.repeat(33), ` ${'a'.repeat(32)}`, 'none'],
  security: [5, true, [], {}, 'rc4', 'AUTO', 'aes-256-gcm', 'auto '],
  flow: [5, 'xtls-rprx-direct', [], 'XTLS-RPRX-VISION'],
  totalGB: AMOUNT,
  expiryTime: ['soon', 'NaN', '1.5', 1.5, UNSAFE, -UNSAFE, []],
  enable: ['true', 'false', 0, 1, null, []],
  limitIp: AMOUNT,
  limitHwid: AMOUNT,
  tgId: AMOUNT,
  group: LINE,
  comment: [5, [], {}, 'a\u0000b', 'a\u001bb', 'half \ud83d', 'x'.repeat(4097)],
  reset: AMOUNT,
  resetDay: [...AMOUNT, 32],
  resetMax: AMOUNT,
  trafficReset: [5, null, 'yearly', 'Daily', []],
  trafficResetDay: [...AMOUNT, 32],
  reverse: ['{}', 5, true, []],
};

for (const [field, values] of Object.entries(WRONG)) {
  test.serial(
    `clients/add, update and bulkCreate refuse what ${field} cannot be, name it and change nothing`,
    async (t) => {
      for (const value of values) {
        const client = { email: 'new', [field]: value };
        await refused(
          t,
          panel,
          ADD,
          { body: { client, inboundIds: [inboundId] } },
          { status: 400, code: 'KERNEL_INVALID', field: `client.${field}` },
        );
        await refused(
          t,
          panel,
          '/panel/api/clients/update/other',
          { body: { [field]: value } },
          { status: 400, code: 'KERNEL_INVALID', field },
        );
      }
      const answer = await panel.call<{
        created: number;
        skipped: { email: string; reason: string; code: string }[];
      }>(BULK, {
        body: values.map((value) => ({ client: { email: 'new', [field]: value }, inboundIds: [inboundId] })),
      });
      t.is(answer.status, 200);
      t.is(answer.body.obj.created, 0);
      t.is(answer.body.obj.skipped.length, values.length);
      t.true(
        answer.body.obj.skipped.every(
          ({ code, reason }) => code === 'KERNEL_INVALID' && reason.includes(field),
        ),
        answer.text,
      );
    },
  );
}

test.serial('inboundIds must be a list of existing ids', async (t) => {
  const client = { email: 'new' };
  for (const inboundIds of [undefined, null, [], 'all', inboundId, {}])
    await refused(
      t,
      panel,
      ADD,
      { body: { client, inboundIds } },
      { status: 400, code: 'KERNEL_INVALID', field: 'inboundIds' },
    );
  for (const id of ['1', null, 0, -1, 1.5, UNSAFE, [inboundId]])
    await refused(
      t,
      panel,
      ADD,
      { body: { client, inboundIds: [id] } },
      { status: 400, code: 'KERNEL_INVALID', field: 'inboundIds.0' },
    );
  await refused(
    t,
    panel,
    ADD,
    { body: { client, inboundIds: [inboundId, 4711] } },
    { status: 404, code: 'INBOUNDS_NOT_FOUND', field: 'inboundIds', says: '4711' },
  );
  await refused(
    t,
    panel,
    ADD,
    { body: { client, inboundIds: Array<number>(1001).fill(inboundId) } },
    { status: 400, code: 'KERNEL_INVALID', field: 'inboundIds' },
  );
});

test.serial('a client must be an object', async (t) => {
  for (const client of [undefined, null, 'new', 5, [], [{ email: 'new' }]])
    await refused(
      t,
      panel,
      ADD,
      { body: { client, inboundIds: [inboundId] } },
      { status: 400, code: 'KERNEL_INVALID', field: 'client' },
    );
  await refused(
    t,
    panel,
    ADD,
    { body: { client: {}, inboundIds: [inboundId] } },
    { status: 400, code: 'KERNEL_INVALID', field: 'client.email' },
  );
});

const TAKEN: readonly (readonly [field: string, code: string, values: readonly object[]])[] = [
  [
    'email',
    'CLIENTS_EMAIL_TAKEN',
    [
      { email: 'Somebody@example.com' },
      { email: 'somebody@EXAMPLE.com' },
      { email: ' somebody@example.com ' },
    ],
  ],
  ['subId', 'CLIENTS_SUB_ID_TAKEN', [{ subId: 'sub-1' }]],
  [
    'uuid',
    'CLIENTS_UUID_TAKEN',
    [{ uuid: UUID }, { uuid: UUID.toUpperCase() }, { uuid: TWIN }, { id: UUID }, { id: TWIN }],
  ],
  ['password', 'CLIENTS_PASSWORD_TAKEN', [{ password: 'pass-1' }]],
  ['auth', 'CLIENTS_AUTH_TAKEN', [{ auth: 'auth-1' }]],
];
for (const [field, code, values] of TAKEN) {
  test.serial(`the ${field} of another client is taken, in whatever form it comes`, async (t) => {
    for (const value of values) {
      await refused(
        t,
        panel,
        ADD,
        { body: { client: { email: 'new', ...value }, inboundIds: [inboundId] } },
        { status: 409, code, field: `client.${field}` },
      );
      await refused(
        t,
        panel,
        '/panel/api/clients/update/other',
        { body: value },
        { status: 409, code, field },
      );
    }
  });
}

test.serial('treats emails that differ only in Unicode composition as one', async (t) => {
  await panel.addClient('caf\u00e9', [inboundId]);
  await refused(
    t,
    panel,
    ADD,
    { body: { client: { email: 'cafe\u0301' }, inboundIds: [inboundId] } },
    { status: 409, code: 'CLIENTS_EMAIL_TAKEN', field: 'client.email' },
  );
});

test.serial('returns 404 for an unknown client', async (t) => {
  const missing = { status: 404, code: 'CLIENTS_NOT_FOUND', field: 'email', says: 'nobody' };
  await refused(t, panel, '/panel/api/clients/get/nobody', {}, missing);
  await refused(t, panel, '/panel/api/clients/traffic/nobody', {}, missing);
  await refused(t, panel, '/panel/api/clients/links/nobody', {}, missing);
  await refused(t, panel, '/panel/api/clients/update/nobody', { body: { comment: 'x' } }, missing);
  await refused(t, panel, '/panel/api/clients/del/nobody', { method: 'POST' }, missing);
  await refused(t, panel, '/panel/api/clients/get/100%', {}, { status: 404, code: 'KERNEL_NOT_FOUND' });
});

const JSON_TYPE = { 'content-type': 'application/json' };
test.serial('rejects a body of the wrong type, with a reason', async (t) => {
  for (const path of [ADD, '/panel/api/clients/update/other']) {
    for (const rawBody of ['[]', '"text"', '5', 'false'])
      await refused(
        t,
        panel,
        path,
        { rawBody, headers: JSON_TYPE },
        { status: 400, code: 'KERNEL_INVALID', says: 'object' },
      );
    for (const rawBody of ['{', '{"email":"x"', '{"totalGB":NaN}', "{'email':'x'}"])
      await refused(
        t,
        panel,
        path,
        { rawBody, headers: JSON_TYPE },
        { status: 400, code: 'KERNEL_BAD_BODY', says: 'JSON' },
      );
    await refused(
      t,
      panel,
      path,
      { rawBody: '{"email":"x"}', headers: { 'content-type': 'text/plain' } },
      { status: 415, code: 'KERNEL_UNSUPPORTED_BODY' },
    );
    await refused(
      t,
      panel,
      path,
      { rawBody: 'email=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      { status: 415, code: 'KERNEL_UNSUPPORTED_BODY' },
    );
  }
  for (const rawBody of ['null', '', '{}'])
    await refused(t, panel, ADD, { rawBody, headers: JSON_TYPE }, { status: 400, code: 'KERNEL_INVALID' });
  for (const rawBody of ['{}', '"text"', '5', '{"client":{"email":"x"},"inboundIds":[1]}'])
    await refused(
      t,
      panel,
      BULK,
      { rawBody, headers: JSON_TYPE },
      { status: 400, code: 'KERNEL_INVALID', says: 'array' },
    );
  await refused(
    t,
    panel,
    ADD,
    {
      rawBody: JSON.stringify({ client: { email: 'x'.repeat(11 * 1024 * 1024) }, inboundIds: [inboundId] }),
      headers: JSON_TYPE,
    },
    { status: 413, code: 'KERNEL_TOO_LARGE' },
  );
});

test.serial('bulkCreate takes up to 10,000 items', async (t) => {
  await refused(
    t,
    panel,
    BULK,
    { body: Array<null>(10_001).fill(null) },
    { status: 400, code: 'KERNEL_INVALID', says: '10000' },
  );
});

test.serial('numbers of a page must be numbers', async (t) => {
  for (const query of ['page=x', 'page=-1', 'page=1.5', 'page=NaN', `page=${UNSAFE}`, 'page=1&page=2'])
    await refused(
      t,
      panel,
      `/panel/api/clients/list/paged?${query}`,
      {},
      { status: 400, code: 'KERNEL_INVALID', field: 'page' },
    );
  for (const query of ['pageSize=all', 'pageSize=-5'])
    await refused(
      t,
      panel,
      `/panel/api/clients/list/paged?${query}`,
      {},
      { status: 400, code: 'KERNEL_INVALID', field: 'pageSize' },
    );
  await refused(
    t,
    panel,
    `/panel/api/clients/list/paged?search=${'x'.repeat(256)}`,
    {},
    { status: 400, code: 'KERNEL_INVALID', field: 'search' },
  );
});

test.serial('bulkCreate skips invalid items with email, code and reason, and creates the rest', async (t) => {
  const inboundIds = [inboundId];
  const body = [
    { client: { email: 'good-1' }, inboundIds },
    null,
    'text',
    { client: { email: { toString: 1 } }, inboundIds },
    { client: { email: 'no inbounds' } },
    { client: { email: 'GOOD-1' }, inboundIds },
    { client: { email: 'somebody@example.com' }, inboundIds },
    { client: { email: 'lost' }, inboundIds: [4711] },
    { client: { email: 'twin', uuid: TWIN }, inboundIds },
    { client: { email: 'good-2', subId: 'sub-2', enable: false }, inboundIds },
    { client: { email: 'late', subId: 'sub-2' }, inboundIds },
  ];
  const answer = await panel.call<{
    created: number;
    skipped: { email: string; code: string; reason: string }[];
  }>(BULK, { body });
  t.is(answer.body.obj.created, 2);
  t.deepEqual(answer.body.obj.skipped.map(({ email, code }) => `${email} ${code}`).sort(), [
    ' KERNEL_INVALID',
    ' KERNEL_INVALID',
    ' KERNEL_INVALID',
    'GOOD-1 CLIENTS_EMAIL_TAKEN',
    'late CLIENTS_SUB_ID_TAKEN',
    'lost INBOUNDS_NOT_FOUND',
    'no inbounds KERNEL_INVALID',
    'somebody@example.com CLIENTS_EMAIL_TAKEN',
    'twin CLIENTS_UUID_TAKEN',
  ]);
  t.true(answer.body.obj.skipped.every(({ reason }) => reason !== ''));
  t.false((await panel.get<{ enable: boolean }>('/panel/api/clients/get/good-2')).enable);
  t.is((await panel.call('/panel/api/clients/get/late')).status, 404);
  t.deepEqual((await panel.get<{ skipped: unknown[] }>(BULK, { body: [] })).skipped, []);
});

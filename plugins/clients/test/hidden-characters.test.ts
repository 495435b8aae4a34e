// Names with invisible characters: new ones are rejected, existing ones remain valid.
import test from 'ava';
import { refuseHidden } from '../../../kernel/index.js';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { editDatabase } from '../../../test/harness/edit-database.js';
import { FakeEngine, freePort, refused, TestPanel } from '../../../test/harness/index.js';

const CLIENTS = '/panel/api/clients';
const ADD = `${CLIENTS}/add`;
const INBOUNDS = '/panel/api/inbounds';
const plugins = () => [new FakeEngine().plugin];

const HIDDEN: readonly (readonly [string, string])[] = [
  ['\u202e', 'U+202E'],
  ['\u2066', 'U+2066'],
  ['\u200f', 'U+200F'],
  ['\u061c', 'U+061C'],
  ['\u200b', 'U+200B'],
  ['\u200c', 'U+200C'],
  ['\u200d', 'U+200D'],
  ['\u2060', 'U+2060'],
  ['\ufeff', ''],
  ['\u00ad', 'U+00AD'],
  ['\u034f', 'U+034F'],
  ['\u3164', 'U+3164'],
  ['\ufe0f', 'U+FE0F'],
  ['\u{e0041}', 'U+E0041'],
  ['\u2800', 'U+2800'],
];
const CONTROLS = ['\u0000', '\u0007', '\u001b', '\u0085', '\u009f'];

test('rejects new client names with invisible or control characters', async (t) => {
  await using panel = await TestPanel.boot({ plugins: plugins() });
  const inboundIds = [await panel.addInbound()];
  await panel.addClient('ann', inboundIds, { subId: 'ann' });
  const bad = [...HIDDEN, ...CONTROLS.map((c) => [c, ''] as const)];
  for (const [character, says] of bad) {
    const name = `a${character}nn`;
    const at = (field: string) => ({ status: 400, code: 'KERNEL_INVALID', field, says });
    await refused(t, panel, ADD, { body: { client: { email: name }, inboundIds } }, at('client.email'));
    const { created, skipped } = await panel.get<{
      created: number;
      skipped: { reason: string; code: string }[];
    }>(`${CLIENTS}/import`, {
      body: { data: JSON.stringify([{ client: { email: name }, inboundIds }]) },
    });
    t.deepEqual([created, skipped[0]?.code], [0, 'KERNEL_INVALID']);
    t.true(skipped[0]?.reason.includes(says));
  }
  const [[character, says] = ['', '']] = HIDDEN;
  const name = `a${character}nn`;
  for (const [path, body, field] of [
    [ADD, { client: { email: 'bob', subId: name }, inboundIds }, 'client.subId'],
    [ADD, { client: { email: 'bob', group: name }, inboundIds }, 'client.group'],
    [`${CLIENTS}/update/ann`, { email: name }, 'email'],
    [`${CLIENTS}/update/ann`, { subId: name }, 'subId'],
    [`${CLIENTS}/update/ann`, { group: name }, 'group'],
    [`${CLIENTS}/groups/create`, { name }, 'name'],
    [`${CLIENTS}/groups/bulkAdd`, { emails: ['ann'], group: name }, 'group'],
    [`${INBOUNDS}/add`, { protocol: 'vless', port: await freePort(), remark: name }, 'remark'],
    [`${INBOUNDS}/add`, { protocol: 'vless', port: await freePort(), tag: name }, 'tag'],
    [`${INBOUNDS}/update/${inboundIds[0]}`, { remark: name }, 'remark'],
    [`${INBOUNDS}/update/${inboundIds[0]}`, { tag: name }, 'tag'],
  ] as const)
    await refused(t, panel, path, { body }, { status: 400, code: 'KERNEL_INVALID', field, says });
});

test('accepts every visible name, with emoji sequences and joined letters', async (t) => {
  await using panel = await TestPanel.boot({ plugins: plugins() });
  const inboundIds = [await panel.addInbound()];
  for (const email of ['👨‍💻ali', '❤️', 'Jürgen', 'علی', 'нина', '太郎', '🏴󠁧󠁢󠁥󠁮󠁧󠁿'])
    await panel.addClient(email, inboundIds);
  const group = 'می\u200cخواهم';
  await panel.get(`${CLIENTS}/groups/create`, { body: { name: group } });
  await panel.addInbound({ remark: `\u200f${group} 1`, tag: 'größe' });
  t.is((await panel.get<unknown[]>(`${INBOUNDS}/list`)).length, 2);
});

test('existing clients, groups and inbounds with such names can still be edited', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const first = await TestPanel.boot({ plugins: plugins(), dataDirectory });
  t.teardown(() => first.stop());
  const id = await first.addInbound({ remark: 'plain' });
  await first.addClient('ann', [id], { subId: 'ann', group: 'staff' });
  await first.stop();
  const old = 'a\u200bnn';
  await editDatabase(dataDirectory, [
    `UPDATE clients SET email = '${old}', email_key = '${old}', group_name = 'st\u202eaff'`,
    `UPDATE inbounds SET remark = 'pl\u202eain'`,
  ]);
  const panel = await TestPanel.boot({ plugins: plugins(), dataDirectory });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const path = encodeURIComponent(old);
  const client = await panel.get<Record<string, unknown>>(`${CLIENTS}/get/${path}`);
  t.like(client, { email: old, group: 'st\u202eaff' });
  await panel.get(`${CLIENTS}/update/${path}`, { body: { ...client, comment: 'edited' } });
  t.like(await panel.get(`${CLIENTS}/get/${path}`), { email: old, comment: 'edited' });
  await panel.get(`${CLIENTS}/groups/bulkAdd`, { body: { emails: [old], group: 'st\u202eaff' } });
  const inbound = await panel.get<Record<string, unknown>>(`${INBOUNDS}/get/${id}`);
  await panel.get(`${INBOUNDS}/update/${id}`, {
    body: { remark: inbound['remark'], tag: inbound['tag'], subSortIndex: 7 },
  });
  t.like(await panel.get(`${INBOUNDS}/get/${id}`), { remark: 'pl\u202eain', subSortIndex: 7 });
  await panel.get(`${CLIENTS}/groups/rename`, { body: { oldName: 'st\u202eaff', newName: 'staff' } });
  await panel.get(`${CLIENTS}/update/${path}`, { body: { email: 'ann' } });
  t.like(await panel.get(`${CLIENTS}/get/ann`), { email: 'ann', group: 'staff' });
});

test('allows joiners only where a script needs them', (t) => {
  for (const text of ['می\u200cخواهم', 'क्\u200dष', 'a \u200e(ب)'])
    t.notThrows(() => refuseHidden('remark', text, 'label'), text);
  for (const text of ['a\u200cb', 'α\u200dβ', 'я\u200cя', '1\u200d2', 'ب\u200c', '\u200cب'])
    t.throws(() => refuseHidden('remark', text, 'label'), { message: /U\+200[CD]/ }, text);
  t.throws(() => refuseHidden('email', 'می\u200cخواهم', 'name'), { message: /U\+200C/ });
});

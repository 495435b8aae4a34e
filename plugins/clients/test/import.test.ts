// Imports of any size: broken ones change nothing, large ones are taken.
import test from 'ava';
import { randomUUID } from 'node:crypto';
import { access, readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { FakeClock, FakeEngine, refused, TestPanel, until } from '../../../test/harness/index.js';

interface Result {
  readonly created: number;
  readonly skippedCount: number;
  readonly skipped: readonly { readonly index: number; readonly email: string; readonly code: string }[];
}
const API = '/panel/api/clients';
const PATH = `${API}/import`;
const MIB = 1024 * 1024;
const boot = (): Promise<TestPanel> =>
  TestPanel.boot({ plugins: [new FakeEngine().plugin], clock: new FakeClock() });
const total = async (panel: TestPanel): Promise<number> =>
  (await panel.get<{ total: number }>(`${API}/list/paged`)).total;
const item = (email: string, more: object = {}): object => ({ client: { email, ...more }, inboundIds: [] });
const json = { 'content-type': 'application/json' };

test('imports a file of more than 10 MiB, and names every skipped row', async (t) => {
  await using panel = await boot();
  const comment = 'x"\\ü€😀'.repeat(400);
  const items = Array.from({ length: 3000 }, (_, i) => item(`c${i}`, { comment }));
  items[7] = item('bad email');
  items[2500] = item('c3');
  items[2999] = { client: { email: 'nowhere' }, inboundIds: [99] };
  const body = JSON.stringify({ data: JSON.stringify(items) });
  t.true(Buffer.byteLength(body) > 12 * MIB);
  const result = await panel.get<Result>(PATH, { rawBody: body, headers: json });
  t.is(result.created, 2997);
  t.is(result.skippedCount, 3);
  t.deepEqual(
    result.skipped.map(({ index, code }) => [index, code]),
    [
      [7, 'KERNEL_INVALID'],
      [2500, 'CLIENTS_EMAIL_TAKEN'],
      [2999, 'INBOUNDS_NOT_FOUND'],
    ],
  );
  t.is((await panel.get<{ comment: string }>(`${API}/get/c2998`)).comment, comment);
  t.deepEqual(await readdir(join(panel.dataDirectory, 'imports')), []);
});

test('an error in the middle of a list changes nothing and names the item', async (t) => {
  await using panel = await boot();
  const good = Array.from({ length: 2500 }, (_, i) => JSON.stringify(item(`c${i}`)));
  const broken: [string, RegExp][] = [
    [`[${good.join()},{"client":}]`, /item 2500 is not valid JSON/],
    [`[${good.join()}`, /is incomplete after 2499 items/],
    [`[${good.join()}] x`, /unexpected text after the list/],
    [`[${good.join()},]`, /item 2500 is not valid JSON/],
    [`[${good.join()},${'['.repeat(200)}${']'.repeat(200)}]`, /item 2500 nests deeper than 100 levels/],
    [`[${good.join()},"${'x'.repeat(2 * MIB)}"]`, /item 2500 is larger than 1 MiB/],
  ];
  for (const [data, reason] of broken) {
    const answer = await panel.call(PATH, { body: { data } });
    t.is(answer.status, 400);
    t.is(answer.body.code, 'KERNEL_INVALID');
    t.regex(answer.body.msg, reason);
  }
  t.is(await total(panel), 0);
  t.deepEqual(await panel.get<unknown>(PATH, { body: { data: ` [ ${good.slice(0, 2).join(' , ')} ] ` } }), {
    created: 2,
    skipped: [],
    skippedCount: 0,
  });
});

test('rejects invalid bodies and changes nothing', async (t) => {
  await using panel = await boot();
  const data = JSON.stringify(JSON.stringify([item('a')]));
  for (const rawBody of [
    '{',
    `{"data":${data}`,
    `{"data":${data}}}`,
    `[${data}]`,
    data,
    `{"data":"\\q"}`,
    `{"data":"\n"}`,
    `{data:${data}}`,
    // Held in memory, a key of 256 MiB would end a panel on a small machine.
    `{"${'k'.repeat(2000)}":1,"data":${data}}`,
    Buffer.from([123, 34, 255, 254]),
  ])
    await refused(t, panel, PATH, { rawBody, headers: json }, { status: 400, code: 'KERNEL_BAD_BODY' });
  await refused(
    t,
    panel,
    PATH,
    { rawBody: `{"data":${data},"data":${data}}`, headers: json },
    { status: 400, code: 'KERNEL_INVALID', field: 'data' },
  );
  for (const headers of [
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { ...json, 'content-encoding': 'gzip' },
  ])
    await refused(
      t,
      panel,
      PATH,
      { rawBody: `{"data":${data}}`, headers },
      { status: 415, code: 'KERNEL_UNSUPPORTED_BODY' },
    );
  t.is(await total(panel), 0);
  t.is(
    (
      await panel.get<Result>(PATH, {
        rawBody: `{"x":["}",{"y":"\\"]"}],"data":${data},"z":null}`,
        headers: json,
      })
    ).created,
    1,
  );
});

/** As a program that says how much will come, and sends only this. */
async function begin(
  panel: TestPanel,
  length: number,
  body: string,
): Promise<{ answer: () => string; end: () => void }> {
  const socket = connect(Number(new URL(panel.url).port), '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString())).on('error', () => undefined);
  const head = `POST ${PATH} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncookie: ${panel.cookie}\r\nx-csrf-token: ${panel.csrf}\r\ncontent-length: ${length}\r\n\r\n`;
  socket.write(head + body);
  return { answer: () => answer, end: () => void socket.destroy() };
}

test('rejects more than 256 MiB at once; a caller that disconnects changes nothing', async (t) => {
  await using panel = await boot();
  const large = await begin(panel, 256 * MIB + 1, '{"data":"');
  await until(() => large.answer().includes('KERNEL_TOO_LARGE'), 'the answer comes');
  t.regex(large.answer(), /^HTTP\/1.1 413 /);
  large.end();

  const folder = join(panel.dataDirectory, 'imports');
  const files = async (): Promise<number> => (await readdir(folder).catch(() => [])).length;
  const cut = await begin(
    panel,
    1000,
    `{"data":"[${JSON.stringify(item(randomUUID())).replaceAll('"', '\\"')},`,
  );
  await until(async () => (await files()) === 1, 'it is being read');
  cut.end();
  await until(async () => (await files()) === 0, 'it is forgotten');
  t.is(await total(panel), 0);
  await t.notThrowsAsync(access(panel.dataDirectory));
});

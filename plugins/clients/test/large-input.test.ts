// Lists at and beyond their limits: what is refused is refused by its length or its first items, and changes nothing.
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';

const API = '/panel/api/clients';
let panel: TestPanel;
test.before(async () => {
  panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock: new FakeClock() });
  await panel.addClient('somebody', [await panel.addInbound()]);
});
test.after.always(() => panel?.[Symbol.asyncDispose]());

interface Issues {
  readonly issues: readonly { readonly path: string; readonly message: string }[];
}
const numbers = (count: number): string => `[${'1,'.repeat(count - 1)}1]`;
const send = (path: string, rawBody: string) =>
  panel.call<Issues>(`${API}/${path}`, { rawBody, headers: { 'content-type': 'application/json' } });

const LISTS: Readonly<Record<string, string>> = {
  bulkDel: '',
  bulkEnable: '',
  bulkDisable: '',
  bulkResetTraffic: '',
  bulkAdjust: '"addDays":1,',
  bulkAttach: '"inboundIds":[1],',
  bulkDetach: '"inboundIds":[1],',
  'groups/bulkAdd': '"group":"g",',
  'groups/bulkRemove': '',
};
for (const [path, more] of Object.entries(LISTS))
  test(`${path}: ten thousand emails, and not one more; of wrong ones 50 are named`, async (t) => {
    const tooLong = await send(path, `{${more}"emails":${numbers(10_001)}}`);
    t.deepEqual(
      [tooLong.status, tooLong.body.obj.issues],
      [400, [{ path: 'emails', message: 'emails must contain less than or equal to 10000 items' }]],
    );
    const wrong = await send(path, `{${more}"emails":${numbers(10_000)}}`);
    t.deepEqual([wrong.status, wrong.body.obj.issues.length], [400, 50]);
    t.regex(wrong.body.msg, /; and at least \d+ more$/);
    const flood = await send(path, `{${more}"emails":${numbers(200_001)}}`);
    t.deepEqual([flood.status, flood.body.code], [413, 'KERNEL_TOO_LARGE']);
    t.is((await panel.get<{ email: string }>(`${API}/get/somebody`)).email, 'somebody');
  });

test('bulkCreate: an item with a thousand unknown keys is an item like others; more keys are refused before anything is made', async (t) => {
  const keys = (count: number) => Array.from({ length: count }, (_, i) => `"k${i}":1`).join();
  const flood = await send(
    'bulkCreate',
    `[{"client":{"email":"early"},"inboundIds":[1]},{"client":{${keys(90_000)}}}]`,
  );
  t.deepEqual([flood.status, flood.body.code], [413, 'KERNEL_TOO_LARGE']);
  t.is((await panel.call(`${API}/get/early`)).status, 404);
  const answer = await panel.get<{ created: number; skipped: { index: number }[] }>(`${API}/bulkCreate`, {
    rawBody: `[{"client":{${keys(1000)}}},{"client":{"email":"flooded",${keys(1000)}},"inboundIds":[1]}]`,
    headers: { 'content-type': 'application/json' },
  });
  t.is(answer.created, 1);
  t.deepEqual(
    answer.skipped.map(({ index }) => index),
    [0],
  );
});

test('import: an item may hold 20,000 values and keys', async (t) => {
  const body = (count: number) =>
    JSON.stringify({ data: `[{"client":{"email":"first"}},{"inboundIds":${numbers(count)}}]` });
  const refused = await send('import', body(20_001));
  t.deepEqual([refused.status, refused.body.obj.issues[0]?.path], [400, 'data']);
  t.regex(refused.body.msg, /item 1 holds more than 20000 values and keys/);
  t.is((await panel.call(`${API}/get/first`)).status, 404);
  t.is((await send('import', body(19_000))).status, 200);
});

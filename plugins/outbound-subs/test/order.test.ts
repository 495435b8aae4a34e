// Runs on every database in test:full.
import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

const API = '/panel/api/engine/outbound-subs';

test('a new list is the last one, also after others were deleted', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const add = (remark: string) =>
    panel.get<{ id: number }>(API, {
      body: { remark, url: `https://lists.example/${remark}`, enabled: false },
    });
  const [first, second] = [await add('a'), await add('b')];
  await add('c');
  for (const { id } of [first, second]) await panel.get(`${API}/${id}/del`, { method: 'POST' });
  await add('d');
  const listed = await panel.get<{ remark: string }[]>(API);
  t.deepEqual(
    listed.map(({ remark }) => remark),
    ['c', 'd'],
  );
});

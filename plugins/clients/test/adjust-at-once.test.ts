// Runs on every database.
import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

const DAY = 86_400_000;

test('concurrent adjustments add up', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const start = Date.UTC(2030, 0, 1);
  await panel.addClient('ada', [await panel.addInbound()], { expiryTime: start });
  const answers = await Promise.all(
    Array.from({ length: 10 }, () =>
      panel.call('/panel/api/clients/bulkAdjust', { body: { emails: ['ada'], addDays: 1 } }),
    ),
  );
  t.true(answers.every(({ body }) => body.success));
  const { expiryTime } = await panel.get<{ expiryTime: number }>('/panel/api/clients/get/ada');
  t.is((expiryTime - start) / DAY, 10);
});

import test from 'ava';
import { FakeClock, FakeEngine, TestPanel, until } from '@weir-panel/weir/testing';
import tally from '../index.js';

const DAY_MS = 86_400_000;

test('clients that reach their limit are counted by day, and old days are forgotten', async (t) => {
  const engine = new FakeEngine();
  const clock = new FakeClock(Date.UTC(2026, 0, 15, 12));
  await using panel = await TestPanel.boot({
    plugins: [engine.plugin],
    outside: [tally],
    clock,
    env: { WEIR_X_ACME_TALLY_KEEP_DAYS: '2' },
  });
  const days = () => panel.get('/panel/api/x/acme-tally/days');
  t.deepEqual(await days(), []);

  const inbound = await panel.addInbound();
  const ada = await panel.addClient('ada', [inbound], { totalGB: 100 });
  engine.move(inbound, ada.id, 0, 200);
  clock.tick(5_000);
  await until(
    async () => JSON.stringify(await days()) === '[{"day":"2026-01-15","depleted":1}]',
    'ada is counted',
  );

  clock.tick(4 * DAY_MS);
  // Its session has ended meanwhile.
  await panel.login();
  await until(async () => JSON.stringify(await days()) === '[]', 'the day is forgotten');
});

test('how many days are asked for is checked', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [tally] });
  t.is((await panel.call('/panel/api/x/acme-tally/days?days=0')).status, 400);
});

import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

test('a proof of the wrong type is refused by name, even if no setting changes', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  for (const name of ['password', 'twoFactorCode', 'currentTwoFactorCode']) {
    const answer = await panel.call('/panel/api/setting/update', { body: { [name]: {} } });
    t.is(answer.status, 400, answer.text);
    t.true(answer.body.msg.includes(name));
  }
  t.is((await panel.call('/panel/api/setting/update', { body: { password: null } })).status, 200);
});

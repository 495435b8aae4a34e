// Inbounds with more values than any core needs.
import test from 'ava';
import { FakeClock, FakeEngine, freePort, TestPanel } from '../../../test/harness/index.js';

test('settings, streamSettings and sniffing hold 10,000 values; the clients that programs send back do not count', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock: new FakeClock() });
  const body = { port: await freePort(), protocol: 'vless', listen: '127.0.0.1' };
  const much = { stranger: Array.from({ length: 10_001 }, () => 1) };
  for (const path of ['settings', 'streamSettings', 'sniffing'])
    for (const value of [much, JSON.stringify(much)]) {
      const answer = await panel.call<{ issues: { path: string }[] }>('/panel/api/inbounds/add', {
        body: { ...body, [path]: value },
      });
      t.deepEqual([answer.status, answer.body.obj.issues], [
        400,
        [{ path, message: answer.body.msg }],
      ] as never);
      t.regex(answer.body.msg, /holds more than 10000 values/);
    }
  const id = await panel.addInbound();
  const clients = Array.from({ length: 5000 }, (_, i) => ({
    email: `c${i}`,
    id: '',
    flow: '',
    enable: true,
  }));
  const echoed = await panel.call(`/panel/api/inbounds/update/${id}`, { body: { settings: { clients } } });
  t.is(echoed.status, 200);
  const many = Array.from({ length: 20_001 }, (_, i) => ({ email: `m${i}` }));
  const refused = await panel.call(`/panel/api/inbounds/update/${id}`, {
    body: { settings: { clients: many } },
  });
  t.is(refused.status, 400);
  t.regex(refused.body.msg, /settings\.clients holds more than 20000 clients/);
});

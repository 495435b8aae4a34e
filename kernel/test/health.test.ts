import test from 'ava';
import { people, World } from './world.js';

test('healthz answers every caller below the base path, without facts and cookies', async (t) => {
  await using world = await World.boot([people]);
  world.kernel.listeners.panel.mountAt('/base/');
  const answer = await world.call('/base/healthz');
  t.deepEqual([answer.status, answer.text], [200, '{"success":true,"msg":"","obj":null}']);
  t.is(answer.headers['set-cookie'], undefined);
  t.is((await world.call('/base/healthz', { method: 'HEAD' })).status, 200);
  t.is((await world.call('/healthz')).status, 404);
  t.is((await world.call('/base/healthz', { method: 'POST' })).status, 404);
});

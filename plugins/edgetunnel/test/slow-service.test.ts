// A service that never answers: the call ends after 15 seconds, and nothing has changed.
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { openService, openTunnelPanel } from './tunnel-panel.js';

test('a service that is silent, or that stops in the middle, is given up after 15 s', async (t) => {
  const api = openService();
  const tunnel = await openTunnelPanel(t);
  await tunnel.act('reg');
  const before = await tunnel.stored();
  const silent = new AbortController();
  t.teardown(() => silent.abort());
  const never = () => sleep(60_000, undefined, { signal: silent.signal, ref: false }).catch(() => undefined);
  api.instead.set('GET', never as never);
  api.instead.set('POST', never as never);
  const began = Date.now();
  const answers = await Promise.all([tunnel.act('config'), tunnel.act('changeIp')]);
  for (const { status, body } of answers) {
    t.deepEqual([status, body.code], [502, 'EDGETUNNEL_SERVICE']);
    t.regex(body.msg, /api\.cloudflareclient\.com cannot be used: .*15 s/);
  }
  const took = Date.now() - began;
  t.true(took >= 14_500 && took < 25_000, `${took} ms`);
  t.deepEqual(await tunnel.stored(), before);
  // The next call is not kept waiting.
  api.instead.clear();
  t.is((await tunnel.act('changeIp')).status, 200);
});

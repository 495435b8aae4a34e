// A service that is too slow: the call ends after 15 seconds, and nothing has changed.
import test from 'ava';
import nock from 'nock';
import { openService, openTunnelPanel } from './tunnel-panel.js';
import { ORIGIN } from './warp-api.js';

const LATE_MS = 60_000;

test('a service that is silent, or that stops in the middle, is given up after 15 s', async (t) => {
  openService();
  const tunnel = await openTunnelPanel(t);
  await tunnel.act('reg');
  const before = await tunnel.stored();
  nock.cleanAll();
  nock(ORIGIN).get(/.*/).delayBody(LATE_MS).reply(200, {});
  nock(ORIGIN).post(/.*/).delay({ head: LATE_MS }).reply(200, {});
  t.teardown(() => nock.abortPendingRequests());
  const began = Date.now();
  const [middle, silent] = await Promise.all([tunnel.act('config'), tunnel.act('changeIp')]);
  const took = Date.now() - began;
  for (const { status, body } of [middle, silent])
    t.deepEqual([status, body.code], [502, 'EDGETUNNEL_SERVICE'], body.msg);
  t.regex(middle.body.msg, /^api\.cloudflareclient\.com cannot be used: .*15 s/);
  // Behind nock, a service that says nothing has not been connected to.
  t.regex(silent.body.msg, /^api\.cloudflareclient\.com cannot be used: .*1[05] s/);
  t.true(took >= 14_500 && took < 25_000, `${took} ms`);
  t.deepEqual(await tunnel.stored(), before);
  // The next call is not kept waiting.
  openService();
  t.is((await tunnel.act('changeIp')).status, 200);
});

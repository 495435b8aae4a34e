// A provider that is too slow: the call ends after 15 seconds, and what is stored stays.
import test from 'ava';
import nock from 'nock';
import { newKey, NordApi, openProviderPanel, ORIGIN } from './nord-api.js';

test('a provider that stops in the middle of a reply is given up after 15 s', async (t) => {
  new NordApi();
  const { act } = await openProviderPanel(t);
  await act('setKey', { key: newKey() });
  const stored = (await act('data')).body.obj;
  nock.cleanAll();
  nock(ORIGIN).persist().get(/.*/).delayBody(60_000).reply(200, '{"servers":[');
  t.teardown(() => nock.abortPendingRequests());
  const began = Date.now();
  const answers = await Promise.all([
    act('countries'),
    act('servers', { countryId: 81 }),
    act('reg', { token: 'x' }),
  ]);
  const took = Date.now() - began;
  for (const { status, body } of answers) {
    t.deepEqual([status, body.code], [502, 'VPNPROVIDER_SERVICE'], body.msg);
    t.regex(body.msg, /^api\.nordvpn\.com cannot be used: .*15 s/);
  }
  t.true(took >= 14_500 && took < 25_000, `${took} ms`);
  t.is((await act('data')).body.obj, stored);
});

// Third-party services in tests: nock answers in their place, and everything but the dialling is as it is.
import test from 'ava';
import nock from 'nock';
import { failure, fetchOf, nameServer, serve } from './world.js';

test.beforeEach(() => {
  nock.disableNetConnect();
});
test.afterEach.always(() => {
  nock.cleanAll();
  nock.enableNetConnect();
});

test.serial('nock answers for a service, with TLS, body, headers and redirects', async (t) => {
  const fetch = fetchOf({ hosts: ['api.example.com', 'files.example.com'], allow: [] });
  nock('https://api.example.com', { reqheaders: { authorization: 'Bearer x' } })
    .post('/bot', { text: 'hello' })
    .query({ a: 'b' })
    .reply(200, { ok: true }, { 'x-reply': 'yes' });
  const answer = await fetch('https://api.example.com/bot?a=b', {
    method: 'POST',
    body: JSON.stringify({ text: 'hello' }),
    headers: { authorization: 'Bearer x', 'content-type': 'application/json' },
  });
  t.is(answer.headers.get('x-reply'), 'yes');
  t.deepEqual(await answer.json(), { ok: true });

  nock('https://api.example.com').get('/latest').reply(302, '', { location: 'https://files.example.com/v1' });
  nock('https://files.example.com').get('/v1').reply(200, 'file');
  t.is(await (await fetch('https://api.example.com/latest')).text(), 'file');
  t.true(nock.isDone());
});

test.serial('the rules hold for what nock answers: list, downgrade, size', async (t) => {
  const fetch = fetchOf({ hosts: ['api.example.com'], allow: [], limits: { maxBytes: 10 } });
  nock('https://elsewhere.org').get('/').reply(200);
  t.is((await failure(fetch('https://elsewhere.org/'))).code, 'host');
  nock('https://api.example.com')
    .get('/')
    .query(true)
    .reply(302, '', { location: 'http://api.example.com/' });
  const down = await failure(fetch('https://api.example.com/?token=hidden'));
  t.is(down.code, 'redirect');
  t.regex(down.message, /^api\.example\.com:443 redirects from HTTPS to HTTP/);
  nock('https://api.example.com').get('/large').reply(200, 'more than ten bytes');
  t.is((await failure(fetch('https://api.example.com/large'))).code, 'size');
  nock('https://api.example.com').get('/broken').replyWithError('the line is cut');
  t.regex(
    (await failure(fetch('https://api.example.com/broken'))).message,
    /cannot be reached: the line is cut/,
  );
});

test.serial('what nock lets through is dialled, and checked as ever', async (t) => {
  const { url, port } = await serve(t, (_, response) => response.end('a real server'));
  const { resolve } = nameServer({ 'in.example.com': ['127.0.0.1'] });
  nock.enableNetConnect(/^(?:127\.0\.0\.1|in\.example\.com)/);
  nock('https://api.example.com').get('/').reply(200, 'mocked');
  t.is(await (await fetchOf({ resolve })(url)).text(), 'a real server');
  const strict = fetchOf({ hosts: ['in.example.com'], allow: [], resolve });
  t.is((await failure(strict(`http://in.example.com:${port}/`))).code, 'address');
  nock.disableNetConnect();
  t.is(
    (await failure(fetchOf({ hosts: ['other.example.com'] })('https://other.example.com/'))).code,
    'network',
  );
});

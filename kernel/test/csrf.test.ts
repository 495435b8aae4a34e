import test from 'ava';
import { newCsrfToken, requireCsrf } from '../auth/csrf.js';
import { isSafe, isSameOrigin } from '../../net/same-origin.js';

test('treats only methods that change nothing as safe', (t) => {
  t.deepEqual(
    ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'get', 'TRACE', ''].filter(isSafe),
    ['GET', 'HEAD', 'OPTIONS'],
  );
});

test('accepts only the same token; an empty one never matches', (t) => {
  const token = newCsrfToken();
  t.notThrows(() => requireCsrf(token, token));
  for (const [expected, sent] of [
    [token, `${token}x`],
    [token, newCsrfToken()],
    [token, ''],
    [token, undefined],
    [undefined, undefined],
    ['', ''],
    [undefined, token],
  ] as const) {
    t.throws(() => requireCsrf(expected, sent), { code: 'KERNEL_CSRF' });
  }
});

test('generates long, different tokens', (t) => {
  const tokens = new Set(Array.from({ length: 100 }, newCsrfToken));
  t.is(tokens.size, 100);
  for (const token of tokens) t.regex(token, /^[\w-]{43}$/);
});

test('accepts a page as its own if browser or origin confirm it, never otherwise', (t) => {
  const host = 'panel.example:2053';
  const cases: [Parameters<typeof isSameOrigin>[0], boolean][] = [
    [{ host, origin: 'https://panel.example:2053' }, true],
    [{ host, origin: 'http://panel.example:2053' }, true],
    [{ host, origin: 'https://panel.example' }, false],
    [{ host, origin: 'https://panel.example.evil:2053' }, false],
    [{ host, origin: 'https://evil.example:2053' }, false],
    [{ host, origin: 'null' }, false],
    [{ host, origin: 'not an origin' }, false],
    [{ host }, false],
    [{ origin: 'https://panel.example:2053' }, false],
    [{ host, 'sec-fetch-site': 'same-origin' }, true],
    [{ host, 'sec-fetch-site': 'same-site' }, false],
    [{ host, 'sec-fetch-site': 'none' }, false],
    // A browser that says where a request comes from is believed before the header that a proxy may rewrite.
    [{ host, origin: 'https://panel.example:2053', 'sec-fetch-site': 'cross-site' }, false],
  ];
  for (const [headers, expected] of cases) t.is(isSameOrigin(headers), expected, JSON.stringify(headers));
});

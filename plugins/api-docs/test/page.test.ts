// The files of the page, as a panel serves them.
import { readdir } from 'node:fs/promises';
import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

test('the page is served with a strict policy, and what it shows asks for a login', async (t) => {
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    env: { WEIR_BASE_PATH: '/secret/' },
    anonymous: true,
  });
  const get = async (path: string) => {
    const response = await fetch(`${panel.url}/secret${path}`);
    return { response, text: await response.text() };
  };
  const { response, text } = await get('/panel/x/api-docs/');
  t.is(response.status, 200);
  t.is(response.headers.get('content-type'), 'text/html; charset=utf-8');
  t.is(response.headers.get('cache-control'), 'no-cache');
  t.is(
    response.headers.get('content-security-policy'),
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'",
  );
  t.notRegex(text, /https?:|<script>|\son\w+=|\sstyle=/);
  for (const [, path = ''] of text.matchAll(/(?:src|href)="([^":]+)"/g))
    t.is((await get(`/panel/x/api-docs/${path}`)).response.status, 200, path);
  t.regex((await get('/panel/x/api-docs/page.mjs')).response.headers.get('content-type') ?? '', /javascript/);
  t.is((await get('/panel/api/openapi.json?raw=1')).response.status, 401);
  for (const path of ['viewer/swagger-initializer.js', 'viewer/index.html', '..%2findex.js', 'viewer/'])
    t.is((await get(`/panel/x/api-docs/${path}`)).response.status, 404, path);
});

test('the viewer comes with its licences, and without what is not used', async (t) => {
  t.deepEqual((await readdir(new URL('../page/viewer/', import.meta.url))).sort(), [
    'LICENSE',
    'NOTICE',
    'swagger-ui-bundle.js',
    'swagger-ui-bundle.js.LICENSE.txt',
    'swagger-ui.css',
  ]);
});

// The files of the page, as a panel serves them.
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

const HTML = { accept: 'text/html,application/xhtml+xml' };

async function boot() {
  const panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    env: { WEIR_BASE_PATH: '/secret/' },
    anonymous: true,
  });
  /** Without `fetch`, which unpacks by itself. */
  const get = (path: string, headers: Record<string, string> = {}) =>
    new Promise<{ status: number; headers: Record<string, string | undefined>; body: Buffer }>(
      (resolve, reject) => {
        request(`${panel.url}/secret${path}`, { headers }, (response) => {
          const parts: Buffer[] = [];
          response
            .on('data', (part: Buffer) => parts.push(part))
            .on('end', () =>
              resolve({
                status: response.statusCode ?? 0,
                headers: response.headers as Record<string, string>,
                body: Buffer.concat(parts),
              }),
            );
        })
          .on('error', reject)
          .end();
      },
    );
  return { panel, get };
}

test('the page has a strict policy with a nonce of its own, and is asked for each time', async (t) => {
  const { panel, get } = await boot();
  await using _ = panel;
  const first = await get('/panel/');
  t.is(first.status, 200);
  t.is(first.headers['content-type'], 'text/html; charset=utf-8');
  t.is(first.headers['cache-control'], 'no-cache');
  const policy = first.headers['content-security-policy'] ?? '';
  const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? '';
  t.regex(nonce, /^[\w+/=]{20,}$/);
  t.is(
    policy.replace(nonce, 'X'),
    "default-src 'none'; script-src 'self'; connect-src 'self'; font-src 'self'; frame-src 'self'; img-src 'self' data:; style-src 'self' 'nonce-X'; base-uri 'self'; form-action 'none'; frame-ancestors 'self'; object-src 'none'",
  );
  const html = first.body.toString();
  t.true(html.includes(`nonce="${nonce}"`));
  const second = (await get('/panel/')).headers['content-security-policy'] ?? '';
  t.false(second.includes(nonce));
  t.notRegex(html.replace(/href="data:[^"]*"/, ''), /https?:|<script>|\son\w+=|\sstyle=/);
});

test('each path of the page is answered with the page, and its base leads to the files', async (t) => {
  const { panel, get } = await boot();
  await using _ = panel;
  for (const [path, base] of [
    ['/panel/', './'],
    ['/panel/clients?search=ann', './'],
    ['/panel/clients/ann@example.org', '../'],
    ['/panel/a/b/c', '../../'],
  ] as const) {
    const { status, body } = await get(path, HTML);
    t.is(status, 200, path);
    t.is(/<base href="([^"]+)"/.exec(body.toString())?.[1], base, path);
    for (const [, file = ''] of body.toString().matchAll(/(?:src|href)="(\.\/assets[^"]+)"/g)) {
      const url = new URL(file, new URL(base, `http://x${path}`));
      t.is((await get(url.pathname)).status, 200, `${path} ${file}`);
    }
  }
});

test('a path whose folders a browser counts otherwise is none of the page', async (t) => {
  const { panel, get } = await boot();
  await using _ = panel;
  // The base of these would be that of a page two folders above: assets of whatever is there.
  for (const path of ['/panel/a%2fb', '/panel/%2F%2F%2Fx', '/panel/a%5Cb'])
    t.is((await get(path, HTML)).status, 404, path);
  t.is((await get('/panel/clients?search=a%2fb', HTML)).status, 200);
  t.is((await get('/panel/a//b', HTML)).status, 200);
});

test('files are packed as the browser takes them, and stored for a year', async (t) => {
  const { panel, get } = await boot();
  await using _ = panel;
  const names = await readdir(new URL('../site/identity/assets/', import.meta.url));
  const name = names.find((one) => one.endsWith('.js'));
  t.truthy(name);
  const path = `/panel/assets/${name}`;
  const plain = await get(path);
  t.is(plain.headers['content-encoding'], undefined);
  t.is(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
  t.is(plain.headers['vary'], 'Accept-Encoding');
  const gzip = await get(path, { 'accept-encoding': 'gzip' });
  t.is(gzip.headers['content-encoding'], 'gzip');
  t.is(gzip.headers['content-type'], 'text/javascript; charset=utf-8');
  t.deepEqual(gunzipSync(gzip.body), plain.body);
  const br = await get(path, { 'accept-encoding': 'gzip, deflate, br' });
  t.is(br.headers['content-encoding'], 'br');
  t.deepEqual(brotliDecompressSync(br.body), plain.body);
  const again = await get(path, { 'accept-encoding': 'br', 'if-none-match': br.headers['etag'] ?? '' });
  t.is(again.status, 304);
  for (const other of names) {
    t.regex(other, /-[\w-]{8}\.\w+$/, 'a name without a digest may get another content');
    const { headers } = await get(`/panel/assets/${other}`);
    t.is(headers['cache-control'], 'public, max-age=31536000, immutable', other);
  }
});

test('calls, pages of plugins and programs get what they got without the page', async (t) => {
  const { panel, get } = await boot();
  await using _ = panel;
  for (const path of [
    '/panel/api/nothing',
    '/panel/x/nothing/',
    '/panel/api',
    '/panel/assets/none-12345678.js',
  ]) {
    const { status, body, headers } = await get(path, { ...HTML, 'accept-encoding': 'br, gzip' });
    t.is(status, 404, path);
    t.is((JSON.parse(body.toString()) as { code: string }).code, 'KERNEL_NOT_FOUND', path);
    t.is(headers['content-encoding'], undefined);
  }
  t.is((await get('/panel/clients', { accept: 'application/json' })).status, 404);
  t.is((await get('/panel/api/clients/list', HTML)).status, 401);
  t.regex((await get('/panel/x/api-docs/', HTML)).body.toString(), /API of Weir/);
});

test('what people type leads to the page', async (t) => {
  const { panel, get } = await boot();
  await using _ = panel;
  for (const path of ['/', '/panel']) {
    const { status, headers } = await get(path, HTML);
    t.is(status, 302, path);
    t.is(new URL(headers['location'] ?? '', `http://x/secret${path}`).pathname, '/secret/panel/');
    t.is((await get(path)).status, 404, 'a program gets the answer of an unknown path');
  }
});

// A folder of files over real connections: what is sent, for how long it is kept, and what never leaves the folder.
import { mkdir, mkdtemp, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { message, route, staticFiles } from '../index.js';
import { bare, people, World } from './world.js';

const folder = await mkdtemp(join(tmpdir(), 'weir-static-'));
const page = join(folder, 'page');
const put = async (name: string, content: string | Buffer): Promise<void> => {
  await mkdir(join(page, name, '..'), { recursive: true });
  await writeFile(join(page, name), content);
};
let world: World;

test.before(async () => {
  await put('index.html', '<!doctype html>');
  await put('app.js', 'app()');
  await put('assets/index-BkH2x9aZ.js', 'hashed()');
  await put('assets/app.3f2504e0.css', 'a{}');
  await put('assets/long-filename.css', 'b{}');
  await put('deep/er/index.html', 'deep');
  await put('ä b%.txt', 'umlaut');
  await put('.env', 'SECRET=1');
  await put('.git/config', 'secret');
  await put('digits.txt', '0123456789');
  await writeFile(join(folder, 'outside.txt'), 'outside');
  await mkdir(join(folder, 'page-too'));
  await writeFile(join(folder, 'page-too', 'x.txt'), 'outside');
  await symlink('../outside.txt', join(page, 'link.txt'));
  await symlink('..', join(page, 'up'));
  await symlink('../page-too', join(page, 'beside'));
  await symlink('loop', join(page, 'loop'));
  await symlink('app.js', join(page, 'within.js'));
  world = await World.boot([
    people,
    bare('pages', {
      routes: () => [
        staticFiles({ path: '/open/', folder: page, auth: 'anyone', doc: 'For all.' }),
        staticFiles({ path: '/closed/', folder: page, doc: 'For admins.', auth: 'session' }),
        staticFiles({
          path: '/',
          folder: page,
          auth: 'anyone',
          doc: 'A page with paths of its own.',
          fallback: 'index.html',
          policy: { 'img-src': "'self' data:", 'default-src': "'none'" },
        }),
        route({
          method: 'GET',
          path: '/open/call',
          auth: 'anyone',
          doc: 'A call among files.',
          reply: message(),
          handle: () => 'called',
        }),
      ],
    }),
  ]);
});
test.after.always(async () => {
  await world[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const get = async (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') => {
  const { status, text, headers: got } = await world.call(path, { headers, method });
  return { status, text, got };
};

test('sends files with their type, and index.html for a path that ends with a slash', async (t) => {
  for (const [path, text, type] of [
    ['/open/', '<!doctype html>', 'text/html; charset=utf-8'],
    ['/open/index.html', '<!doctype html>', 'text/html; charset=utf-8'],
    ['/open/app.js', 'app()', 'text/javascript; charset=utf-8'],
    ['/open/within.js', 'app()', 'text/javascript; charset=utf-8'],
    ['/open/deep/er/', 'deep', 'text/html; charset=utf-8'],
    ['/open/%C3%A4%20b%25.txt', 'umlaut', 'text/plain; charset=utf-8'],
  ] as const) {
    const answer = await get(path);
    t.deepEqual([answer.status, answer.text, answer.got['content-type']], [200, text, type], path);
  }
  t.is((await get('/open/call')).text.includes('called'), true);
  const head = await get('/open/app.js', {}, 'HEAD');
  t.deepEqual([head.status, head.text, head.got['content-length']], [200, '', '5']);
});

test('returns 404 for dotfiles, folders and paths outside, in any notation', async (t) => {
  for (const path of [
    '.env',
    '.git/config',
    'deep',
    'deep/er',
    'deep/',
    'missing.txt',
    '../outside.txt',
    '..%2foutside.txt',
    '%2e%2e/outside.txt',
    'deep/../../outside.txt',
    '..%5coutside.txt',
    'deep/..%5c..%5c..%5coutside.txt',
    'link.txt',
    'up/outside.txt',
    'up/page/app.js/',
    'beside/x.txt',
    'loop',
    'app.js/',
    'app.js%00.txt',
    '%00',
    '%2fetc/passwd',
    '/etc/passwd',
    `${'x'.repeat(300)}`,
    'x/'.repeat(3000),
  ]) {
    const answer = await get(`/open/${path}`);
    t.is(answer.status, 404, `${path}: ${answer.text}`);
    t.true(answer.text.includes('KERNEL_NOT_FOUND'), path);
    t.is(answer.got['etag'], undefined);
  }
  t.deepEqual(world.faults(), []);
});

test('requires a login if the route does', async (t) => {
  t.is((await get('/closed/app.js')).status, 401);
  const login = await world.login();
  t.is((await get('/closed/app.js', login)).text, 'app()');
  t.is(
    (await get('/closed/assets/index-BkH2x9aZ.js', login)).got['cache-control'],
    'private, max-age=31536000, immutable',
  );
});

test('caches files with a hash in their name for a year, and revalidates all others', async (t) => {
  for (const [path, wanted] of [
    ['index.html', 'no-cache'],
    ['', 'no-cache'],
    ['app.js', 'no-cache'],
    ['assets/long-filename.css', 'no-cache'],
    ['assets/index-BkH2x9aZ.js', 'public, max-age=31536000, immutable'],
    ['assets/app.3f2504e0.css', 'public, max-age=31536000, immutable'],
  ] as const)
    t.is((await get(`/open/${path}`)).got['cache-control'], wanted, path);
});

test('computes the ETag from the content: a new version of the same length and time gets a new one', async (t) => {
  await put('changing.html', 'version 1');
  await utimes(join(page, 'changing.html'), 499_162_500, 499_162_500);
  const first = await get('/open/changing.html');
  const etag = String(first.got['etag']);
  t.regex(etag, /^"[\w-]{27}"$/);
  t.is(first.got['last-modified'], undefined);
  const again = await get('/open/changing.html', { 'if-none-match': etag });
  t.deepEqual([again.status, again.text], [304, '']);
  await put('new.html', 'version 2');
  await utimes(join(page, 'new.html'), 499_162_500, 499_162_500);
  await rename(join(page, 'new.html'), join(page, 'changing.html'));
  const changed = await get('/open/changing.html', {
    'if-none-match': etag,
    'if-modified-since': new Date().toUTCString(),
  });
  t.deepEqual([changed.status, changed.text], [200, 'version 2']);
});

test('sends the part of a range; an invalid range, or many at once, costs no more than the file', async (t) => {
  const range = (value: string, more = {}) => get('/open/digits.txt', { range: value, ...more });
  const part = await range('bytes=2-4');
  t.deepEqual([part.status, part.text, part.got['content-range']], [206, '234', 'bytes 2-4/10']);
  t.is((await range('bytes=-3')).text, '789');
  const beyond = await range('bytes=20-30');
  t.deepEqual([beyond.status, beyond.got['content-range'], beyond.text], [416, 'bytes */10', '']);
  const many = await range(`bytes=${Array.from({ length: 1500 }, () => '0-9').join(',')}`);
  t.true(many.text.length <= 10, `${many.status} ${many.text.length}`);
  const apart = await range(`bytes=${Array.from({ length: 5 }, (_, i) => `${i * 2}-${i * 2}`).join(',')}`);
  t.deepEqual([apart.status, apart.text], [200, '0123456789']);
  t.is((await range('bytes=2-4', { 'if-range': '"another"' })).status, 200);
  t.is((await range('nonsense')).status, 200);
  t.is((await get('/open/digits.txt', { 'if-match': '"another"' })).status, 412);
});

test('sends a strict policy with a page, which its route can change', async (t) => {
  const policy = String((await get('/open/')).got['content-security-policy']);
  t.is(
    policy,
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
  );
  const own = String((await get('/')).got['content-security-policy']);
  t.true(own.startsWith("default-src 'none'; ") && own.endsWith("; img-src 'self' data:"), own);
  const { got } = await get('/open/');
  t.deepEqual([got['x-content-type-options'], got['referrer-policy']], ['nosniff', 'no-referrer']);
  for (const policy of [
    { 'img-src': "'self'; script-src *" },
    { 'img src': '*' },
    { 'img-src': 'a\r\nX: 1' },
  ])
    t.throws(() => staticFiles({ path: '/x/', folder: page, doc: 'x', policy: policy as never }), {
      message: /is not a directive/,
    });
});

test('sends the fallback page to a browser, but not to a program or for a missing file', async (t) => {
  const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  const deep = await get('/clients/17', html);
  t.deepEqual([deep.status, deep.text, deep.got['cache-control']], [200, '<!doctype html>', 'no-cache']);
  t.is((await get('/clients/17', { accept: 'application/json' })).status, 404);
  t.is((await get('/assets/gone.js', html)).status, 404);
  t.is((await get('/open/clients', html)).status, 404);
  t.is((await get('/clients/../../etc/passwd', html)).status, 404);
  t.is((await world.call('/clients/17', { method: 'POST', headers: html })).status, 404);
});

test('names a missing folder when the route is declared', (t) => {
  t.throws(() => staticFiles({ path: '/x/', folder: join(folder, 'nowhere'), doc: 'x' }), {
    message: /the folder .*nowhere does not exist; build it first/,
  });
  t.throws(() => staticFiles({ path: '/x/', folder: 'page', doc: 'x' }), {
    message: /must be absolute/,
  });
});

import test from 'ava';
import { isPathPattern, PathRouter, shapeOfPath, specificityOf } from '../path-router.js';

function routerOf(...patterns: string[]) {
  const router = new PathRouter<string>();
  for (const pattern of patterns) router.add('GET', pattern, pattern);
  return (url: string, method = 'GET') => {
    const { target, params } = router.find(method, url) ?? {};
    return [target, params];
  };
}

test('literals take precedence over parameters, parameters over wildcards, in any order', (t) => {
  const found = routerOf('/{all*}', '/{x}/b', '/a/{x}', '/a/b', '/a/{x}/c', '/a/b/{y}', '/a/b/{rest*}', '/');
  t.deepEqual(found('/a/b'), ['/a/b', {}]);
  t.deepEqual(found('/?x=/a/b'), ['/', {}]);
  t.deepEqual(found('/a/z?x=1'), ['/a/{x}', { x: 'z' }]);
  t.deepEqual(found('/z/b'), ['/{x}/b', { x: 'z' }]);
  t.deepEqual(found('/a/b/c'), ['/a/b/{y}', { y: 'c' }]);
  t.deepEqual(found('/a/z/c'), ['/a/{x}/c', { x: 'z' }]);
  t.deepEqual(found('/a/b/c/d'), ['/a/b/{rest*}', { rest: 'c/d' }]);
  t.deepEqual(found('/nowhere/at/all'), ['/{all*}', { all: 'nowhere/at/all' }]);
  t.deepEqual(found('/a/__proto__'), ['/a/{x}', { x: '__proto__' }]);
});

test('decodes a parameter, with escaped slashes', (t) => {
  const found = routerOf('/a/{x}', '/w/{rest*}');
  t.deepEqual(found('/a/%C3%A4%2F%20b@c'), ['/a/{x}', { x: 'ä/ b@c' }]);
  t.deepEqual(found('/a/%2525'), ['/a/{x}', { x: '%25' }]);
  t.deepEqual(found('/%61/b'), ['/a/{x}', { x: 'b' }]);
  t.deepEqual(found('/w/%C3%A4/b%20c'), ['/w/{rest*}', { rest: 'ä/b c' }]);
  const long = 'x'.repeat(16_000);
  t.deepEqual(found(`/a/${long}`), ['/a/{x}', { x: long }]);
});

test('rejects other case, an extra slash, undecodable text and an empty parameter', (t) => {
  const found = routerOf('/a/{x}', '/a/b', '/{x}/b');
  for (const url of ['/A/z', '/a/b/', '/a/', '//b', '/a/%', '/a/%ff', '/a/%C3%28', 'http://h/a/b', 'a/b', ''])
    t.deepEqual(found(url), [undefined, undefined], url);
  for (const method of ['POST', 'HEAD', 'PROPFIND', 'constructor'])
    t.deepEqual(found('/a/b', method), [undefined, undefined], method);
});

test('a wildcard can be empty, and never leads out of its folder', (t) => {
  const found = routerOf('/files/{path*}');
  t.deepEqual(found('/files/'), ['/files/{path*}', { path: '' }]);
  t.deepEqual(found('/files/a/b/'), ['/files/{path*}', { path: 'a/b/' }]);
  t.deepEqual(found('/files/..a/b...c/.hidden'), ['/files/{path*}', { path: '..a/b...c/.hidden' }]);
  for (const path of [
    '..',
    '../x',
    'a/../b',
    'a/..',
    './a',
    '%2e%2e/x',
    'a/%2E%2e/b',
    'a%2F..%2Fb',
    '..%5Cx',
    'a%00b',
  ])
    t.deepEqual(found(`/files/${path}`), [undefined, undefined], path);
  t.deepEqual(found('/files'), [undefined, undefined]);
});

test('patterns have whole segments, and a wildcard is the last', (t) => {
  for (const good of ['/', '/a', '/a/', '/{x}', '/a/{x}/b.c', '/{x*}', '/a/{x}/{rest*}', '/~a@b-c_d.e'])
    t.true(isPathPattern(good), good);
  for (const bad of [
    '',
    'a',
    '/{}',
    '/a{x}',
    '/{x}.json',
    '/{x*}/a',
    '/{x*}a',
    '/a b',
    '/a:b',
    '/a*',
    '/%20',
    '/(a)',
  ])
    t.false(isPathPattern(bad), bad);
  t.is(shapeOfPath('/a/{x}/{rest*}'), '/a/{}/{*}');
  const sorted = [
    '/',
    '/a',
    '/a/b',
    '/a/b-c',
    '/a/{}',
    '/a.b',
    '/aa',
    '/b',
    '/{}',
    '/{}/a',
    '/{}/{}',
    '/{}/{*}',
    '/{*}',
  ];
  const order = (a: string, b: string) => (specificityOf(a) < specificityOf(b) ? -1 : 1);
  t.deepEqual(sorted.toReversed().sort(order), sorted);
});

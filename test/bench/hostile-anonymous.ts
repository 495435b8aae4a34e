// What somebody without a login may send.
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Caller } from './caller.js';

/** A name for people, and the request; resolves with what was answered. */
export type Hostile = readonly [name: string, run: (caller: Caller) => Promise<string>];

const MIB = 1024 * 1024;
/** A list that JSON.parse and a validator would work on for long, of about so many bytes. */
const wide = (bytes: number, item = '{}'): string =>
  `[${`${item},`.repeat(Math.floor(bytes / (item.length + 1)))}${item}]`;
const keys = (count: number, value = '1'): string =>
  `{${Array.from({ length: count }, (_, i) => `"k${i}":${value}`).join()}}`;
const wideLogin = `{"username":${wide(9 * MIB)}}`;
const bomb = gzipSync(wideLogin);
const packed = (encoding: string) => ({ 'content-encoding': encoding });
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const head = (line: string, ...headers: string[]) =>
  `${line} HTTP/1.1\r\nHost: weir\r\n${headers.map((header) => `${header}\r\n`).join('')}\r\n`;
const login = (...headers: string[]) => head('POST /login', 'Content-Type: application/json', ...headers);

export const anonymous: readonly Hostile[] = [
  ['login: 10 KB of gzip with 3.5 million items', (c) => c.http('/login', bomb, packed('gzip'))],
  ['login: six of them at once', (c) => c.times(6, () => c.http('/login', bomb, packed('gzip')))],
  ['login: the same as brotli', (c) => c.http('/login', brotliCompressSync(wideLogin), packed('br'))],
  ['login: the same as deflate', (c) => c.http('/login', deflateSync(wideLogin), packed('deflate'))],
  ['login: 9 MiB of items, not compressed', (c) => c.http('/login', wideLogin)],
  ['login: 600,000 unknown keys', (c) => c.http('/login', keys(600_000))],
  ['login: 1,500 unknown keys in 16 KiB, 50 at once', (c) => c.times(50, () => c.http('/login', keys(1500)))],
  [
    'login: 16 KiB of items, 50 at once',
    (c) => c.times(50, () => c.http('/login', `{"username":${wide(16_000)}}`)),
  ],
  ['login: 16 KiB of nesting', (c) => c.http('/login', '['.repeat(16_000))],
  ['login: a number of 16,000 digits', (c) => c.http('/login', `{"username":${'9'.repeat(16_000)}}`)],
  ['login: a form of 8,000 fields', (c) => c.http('/login', 'a&'.repeat(8000), FORM)],
  ['login: a form of 16 KiB of escapes', (c) => c.http('/login', `username=${'%ff'.repeat(5000)}`, FORM)],
  [
    'login: 10 MiB of multipart',
    (c) => c.http('/login', 'x'.repeat(10 * MIB), { 'content-type': 'multipart/form-data; boundary=x' }),
  ],
  [
    'login: a name of 16,000 blanks',
    (c) => c.http('/login', JSON.stringify({ username: `${' '.repeat(15_000)}x`, password: 'x' })),
  ],
  [
    'login: 20 guesses at once',
    (c) =>
      c.times(20, (n) => c.http('/login', JSON.stringify({ username: `u${n}`, password: 'x'.repeat(1024) }))),
  ],
  [
    'login: 100 sockets that promise 10 GB',
    (c) => c.times(100, () => c.raw(login('Content-Length: 10000000000'))),
  ],
  [
    'login: the same with Expect: 100-continue',
    (c) => c.times(100, () => c.raw(login('Content-Length: 10000000000', 'Expect: 100-continue'))),
  ],
  [
    'login: 16,000 chunks of one byte',
    (c) => c.raw(`${login('Transfer-Encoding: chunked')}${'1\r\n \r\n'.repeat(16_000)}0\r\n\r\n`),
  ],
  [
    'login: 200 sockets that dribble',
    (c) => c.times(200, () => c.raw(`${login('Transfer-Encoding: chunked')}1\r\n{\r\n`, { wait: 500 })),
  ],
  [
    'login: endless chunk extensions',
    (c) => c.raw(`${login('Transfer-Encoding: chunked')}1;${'x'.repeat(MIB)}`),
  ],
  ['10 MiB to a route that takes no body', (c) => c.http('/getTwoFactorEnable', 'x'.repeat(10 * MIB))],
  [
    '15 KB of cookies, 100 at once',
    (c) => c.times(100, () => c.http('/csrf-token', undefined, { cookie: 'a=%41;'.repeat(2400) })),
  ],
  [
    'a cookie of nested JSON',
    (c) =>
      c.http('/csrf-token', undefined, { cookie: `weir_session=j:${encodeURIComponent('['.repeat(4000))}` }),
  ],
  [
    '2,000 headers',
    (c) => c.raw(head('GET /csrf-token', ...Array.from({ length: 2000 }, (_, n) => `x${n}: 1`))),
  ],
  [
    '100 headers of 10 KB',
    (c) =>
      c.raw(
        head('GET /csrf-token', ...Array.from({ length: 100 }, (_, n) => `x${n}: ${'y'.repeat(10_000)}`)),
      ),
  ],
  ['a path of 15,000 slashes', (c) => c.http('/'.repeat(15_000))],
  ['a path of 5,000 broken escapes', (c) => c.http(`/${'%zz'.repeat(5000)}`)],
  ['5,000 query parameters', (c) => c.http(`/csrf-token?${'a=1&'.repeat(3800)}`)],
  [
    '3,000 forwarded hops',
    (c) => c.http('/csrf-token', undefined, { 'x-forwarded-for': '1.1.1.1,'.repeat(1800) }),
  ],
  [
    '15 KB tokens, 200 at once',
    (c) =>
      c.times(200, () =>
        c.http('/panel/api/clients/list', undefined, { authorization: `Bearer ${'x'.repeat(15_000)}` }),
      ),
  ],
  ['1,000 requests on one connection', (c) => c.raw(head('GET /csrf-token').repeat(1000))],
  ['300 connections of noise', (c) => c.times(300, () => c.raw(Buffer.alloc(1000, 0xff)))],
  [
    '300 WebSockets without a session',
    (c) =>
      c.times(300, () =>
        c.raw(
          head(
            'GET /ws',
            'Connection: Upgrade',
            'Upgrade: websocket',
            'Sec-WebSocket-Version: 13',
            'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
          ),
        ),
      ),
  ],
  [
    '500 unknown subscriptions',
    (c) => c.times(500, (n) => c.http(`${c.subUrl.pathname}none${n}`, undefined, {}, c.subUrl)),
  ],
  [
    'a subscription of 15 KB of escapes',
    (c) => c.http(`${c.subUrl.pathname}${'%41'.repeat(5000)}`, undefined, {}, c.subUrl),
  ],
];
export { keys, MIB, wide };

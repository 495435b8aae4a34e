// What each hop of a fetch may do.
import test from 'ava';
import type { CallOptions } from '../../outgoing/contract.js';
import { ListFetcher } from '../list-fetcher.js';

interface Hop {
  readonly url: string;
  readonly rights: string;
  readonly authorization: string | null;
}

async function fetched(first: string, redirects: readonly string[]) {
  const hops: Hop[] = [];
  const left = [...redirects];
  const fetcher = new ListFetcher({
    outgoing: {
      for:
        ({ hosts }: { hosts: () => readonly string[] }) =>
        async (url: URL, { allowPrivate = false, allowInsecure = false, headers }: CallOptions) => {
          if (!hosts().includes(url.hostname)) throw new Error('the host is not declared');
          hops.push({
            url: url.href,
            rights: `${allowPrivate ? 'private' : ''} ${allowInsecure ? 'insecure' : ''}`.trim(),
            authorization: new Headers(headers).get('authorization'),
          });
          const location = left.shift();
          return location === undefined
            ? new Response('the list')
            : new Response('', { status: 302, headers: { location } });
        },
    } as never,
  });
  const source = { url: first, allowPrivate: true, allowInsecure: true };
  const body = await fetcher.fetch(source).then(
    (bytes) => Buffer.from(bytes).toString(),
    ({ message }: Error) => message,
  );
  return { hops, body };
}
const BASIC = `Basic ${Buffer.from('ann:p@ss').toString('base64')}`;

test('only the server of the list has the rights of the list, and its login', async (t) => {
  const { hops, body } = await fetched('https://ann:p%40ss@lists.example/a', [
    '/b',
    'https://lists.example:8443/c',
    'https://other.example/d',
    'https://lists.example/e',
  ]);
  t.is(body, 'the list');
  t.deepEqual(
    hops.map(({ url, rights, authorization }) => [url, rights, authorization]),
    [
      ['https://lists.example/a', 'private insecure', BASIC],
      ['https://lists.example/b', 'private insecure', BASIC],
      ['https://lists.example:8443/c', '', null],
      ['https://other.example/d', '', null],
      ['https://lists.example/e', 'private insecure', BASIC],
    ],
  );
});

test('no redirect leads from HTTPS to HTTP, and ten are followed', async (t) => {
  t.regex((await fetched('https://a.example/', ['http://a.example/'])).body, /from HTTPS to HTTP/);
  t.is((await fetched('http://a.example/', ['https://a.example/'])).body, 'the list');
  t.is((await fetched('http://a.example/', Array<string>(10).fill('/'))).body, 'the list');
  const many = await fetched('http://a.example/', Array<string>(11).fill('/'));
  t.is(many.body, 'the server redirects more than 10 times');
  t.is(many.hops.length, 11);
});

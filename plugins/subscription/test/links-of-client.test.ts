// The links of one client, as plugins show them that let somebody see some clients only.
import test from 'ava';
import type { ClientRow } from '../../clients/contract.js';
import { linksOfClient, type SubscriptionApi } from '../contract.js';

const row = { id: 1, subId: 'one' } as ClientRow;
const served = {
  entries: (format: string, { id }: ClientRow, host: string) => [`${format} of ${id} at ${String(host)}`],
  url: () => 'https://sub.example/one',
} as unknown as SubscriptionApi;
const alone = { sharing: () => undefined };

test('share links and the URL of the subscription, where there is one', (t) => {
  t.deepEqual(linksOfClient(served, alone, row, 'a.example'), {
    links: ['links of 1 at a.example'],
    subscription: 'https://sub.example/one',
  });
  const off = { ...served, url: () => undefined };
  t.is(linksOfClient(off, alone, row, 'a.example').subscription, '');
  t.deepEqual(linksOfClient(undefined, alone, row, 'a.example'), { links: [], subscription: '' });
});

test('no URL where an import gave one subscription to several clients', (t) => {
  const shared = { sharing: () => [row, { ...row, id: 2 }] };
  const { links, subscription } = linksOfClient(served, shared, row, 'a.example');
  t.deepEqual([links.length, subscription], [1, '']);
});

// Who is behind a key, while keys pass from one client to another.
import test from 'ava';
import { PeerBook } from '../peer-book.js';
import type { Peer } from '../peers.js';

const peer = (clientId: number, publicKey: string, forwardedPorts = ''): Peer =>
  ({ user: { inboundId: 1, clientId, name: `i1.c${clientId}` }, publicKey, forwardedPorts }) as Peer;

test('a client with another key is no longer behind the first, and a key that passed on stays', (t) => {
  const book = new PeerBook();
  const ann = peer(1, 'k1', '80');
  book.add(ann);
  book.add(peer(1, 'k2'));
  t.is(book.ofKey('k1'), undefined);
  t.deepEqual([...book.forwarding()], []);
  const bob = peer(2, 'k2');
  book.add(bob);
  book.remove(book.ofClient(1));
  t.is(book.ofKey('k2'), bob);
  book.remove(ann);
  t.deepEqual(book.all(), [bob]);
});

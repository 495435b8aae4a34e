// Who is online through a tunnel.
import test from 'ava';
import { FakeClock } from '../../../test/harness/index.js';
import { Handshakes, SESSION_MS } from '../handshakes.js';

test('a client is online for three minutes after its last handshake, and not after its removal', (t) => {
  const clock = new FakeClock();
  const handshakes = new Handshakes({ clock });
  const ref = { inboundId: 1, clientId: 7 };
  handshakes.note(ref, 0);
  t.false(handshakes.isOnline(7));
  handshakes.note(ref, clock.now() - SESSION_MS + 1000);
  t.true(handshakes.isOnline(7));
  // An older one of another inbound.
  handshakes.note({ ...ref, inboundId: 2 }, clock.now() - SESSION_MS - 1);
  t.true(handshakes.isOnline(7));
  clock.tick(1000);
  t.false(handshakes.isOnline(7));
  handshakes.note(ref, clock.now());
  handshakes.forget(7);
  t.false(handshakes.isOnline(7));
});

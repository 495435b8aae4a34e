import test from 'ava';
import type { ClientRow } from '../../clients/contract.js';
import type { Inbound } from '../../inbounds/contract.js';
import { trafficMessage } from '../traffic-message.js';

/** Clients 1 to `count` are there, moved a byte each way in inbounds 1 and 2, and are online. */
function messageOf(count: number, moved = count) {
  const ids = Array.from({ length: count }, (_, i) => i + 1);
  const clients = { byId: (id: number) => (id <= count ? ({ email: `c${id}` } as ClientRow) : undefined) };
  const inbounds = { get: (id: number) => (id === 1 ? ({ tag: 'in' } as Inbound) : undefined) };
  const presence = {
    online: () => ids,
    onlineByGuid: () => new Map([['me', ids]]),
    activeInboundsByGuid: () => new Map([['me', [1, 2]]]),
  };
  const usage = Array.from({ length: moved }, (_, i) => i + 1).flatMap((clientId) =>
    [1, 2].map((inboundId) => ({ clientId, inboundId, up: 1, down: 2 })),
  );
  return trafficMessage(
    { clients, inbounds, presence } as unknown as Parameters<typeof trafficMessage>[0],
    7,
    usage,
    [{ tag: 'out', up: 5, down: 6 }],
  );
}

test('bytes are summed over the inbounds of a client and the clients of an inbound; what is gone is left out', (t) => {
  t.deepEqual(messageOf(1, 2), {
    at: 7,
    traffics: [
      { IsInbound: true, IsOutbound: false, Tag: 'in', Up: 2, Down: 4 },
      { IsInbound: false, IsOutbound: true, Tag: 'out', Up: 5, Down: 6 },
    ],
    clientTraffics: [{ id: 1, email: 'c1', up: 2, down: 4 }],
    lastOnlineMap: { c1: 7 },
    inboundTraffics: [{ id: 1, tag: 'in', up: 2, down: 4 }],
    onlineCount: 1,
    onlineClients: ['c1'],
    onlineByGuid: { me: ['c1'] },
    activeInbounds: { me: ['in'] },
  });
});

test('a list of more than 2,000 is left out, and its count is not', (t) => {
  t.like(messageOf(2000), { onlineCount: 2000 });
  t.is(messageOf(2000).clientTraffics?.length, 2000);
  t.is(messageOf(2000).onlineClients?.length, 2000);
  t.like(messageOf(2001), {
    clientTraffics: null,
    lastOnlineMap: null,
    onlineClients: null,
    onlineByGuid: null,
    onlineCount: 2001,
  });
});

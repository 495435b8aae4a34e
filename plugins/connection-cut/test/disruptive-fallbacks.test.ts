import test from 'ava';
import { createLog } from '../../../panel/log.js';
import { FakeClock } from '../../../test/harness/index.js';
import type { Inbound } from '../../inbounds/contract.js';
import { DisruptiveFallbacks } from '../disruptive-fallbacks.js';

const INBOUNDS = new Map<number, Partial<Inbound>>([
  [1, { id: 1, tag: 'tcp', protocol: 'vless', settings: {}, streamSettings: {} }],
  [2, { id: 2, tag: 'udp', protocol: 'hysteria', settings: {}, streamSettings: {} }],
  [3, { id: 3, tag: 'both', protocol: 'shadowsocks', settings: { network: 'tcp,udp' }, streamSettings: {} }],
]);

function world({ replace = false, restart = false, ends = (id: number) => id !== 2 } = {}) {
  const clock = new FakeClock();
  const replaced: number[] = [];
  const restarts: string[] = [];
  const fallbacks = new DisruptiveFallbacks({
    log: createLog({ level: 'error', readable: true, write: () => undefined }),
    clock,
    engine: {
      replaceInbound: async (id) => (replaced.push(id), { pending: false, reason: '' }),
      restart: async (reason) => void restarts.push(reason),
    },
    inbounds: { get: (id) => INBOUNDS.get(id) as Inbound | undefined },
    settings: {
      read: () => ({ engineReplaceUdpInbounds: replace, engineRestartToCut: restart }) as never,
    },
    cutter: { describe: ({ id }) => ({ end: ends(id), reason: '', ended: 0, missed: 0 }) },
  });
  return {
    clock,
    replaced,
    restarts,
    fallbacks,
    remove: (...ids: number[]) => fallbacks.removed(ids.map((inboundId) => ({ inboundId, clientId: 7 }))),
  };
}

test('by default neither is used', async (t) => {
  const { remove, fallbacks, replaced, restarts } = world();
  await remove(1, 2, 3);
  await fallbacks.tick();
  t.deepEqual([replaced, restarts], [[], []]);
});

test('inbounds that serve UDP are replaced, each once, and no other', async (t) => {
  const { remove, replaced } = world({ replace: true });
  await remove(1, 2, 2, 3, 99);
  t.deepEqual(replaced, [2, 3]);
});

test('the core is restarted for connections that cannot be closed otherwise, at most once a minute', async (t) => {
  const { remove, fallbacks, restarts, clock } = world({ restart: true });
  await remove(1);
  await fallbacks.tick();
  t.is(restarts.length, 0, 'those over TCP are ended by themselves');
  await remove(2);
  await remove(2);
  await fallbacks.tick();
  t.is(restarts.length, 1);
  await remove(2);
  clock.tick(55_000);
  await fallbacks.tick();
  t.is(restarts.length, 1);
  clock.tick(5_000);
  await fallbacks.tick();
  t.is(restarts.length, 2);
});

test('where the panel lacks the right, a restart closes those over TCP too; a replaced inbound needs no restart', async (t) => {
  const without = world({ restart: true, ends: () => false });
  await without.remove(1);
  await without.fallbacks.tick();
  t.is(without.restarts.length, 1);
  const both = world({ replace: true, restart: true });
  await both.remove(2);
  await both.fallbacks.tick();
  t.deepEqual([both.replaced, both.restarts], [[2], []]);
});

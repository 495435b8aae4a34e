// Masks in documents of the core.
import test from 'ava';
import { maskOf } from '../masks.js';

test('hopping between ports has an interval, without which the core crashes at the first connection', (t) => {
  const transport = { kind: 'own' } as const;
  t.deepEqual(maskOf({ finalMask: { udpHop: { ports: '1-2' } }, transport }, undefined), {
    quicParams: { udpHop: { interval: 30, ports: '1-2' } },
  });
  t.deepEqual(maskOf({ finalMask: { udpHop: { ports: '1-2', interval: '5-10' } }, transport }, undefined), {
    quicParams: { udpHop: { interval: '5-10', ports: '1-2' } },
  });
});

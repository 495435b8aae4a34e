import test from 'ava';
import { Online } from '../online.js';

test('asks about wanted users of ours only, 500 at a time, in turn', async (t) => {
  const names = [...Array.from({ length: 1200 }, (_, i) => `i1.c${i + 1}`), 'somebody'];
  const asked: (readonly string[])[] = [];
  const online = new Online({
    supervisor: {
      reader: {
        readConnections: async () => undefined,
        online: async (pick) => {
          asked.push(pick(names));
          return (asked.at(-1) ?? []).map((name) => ({ name, addresses: ['192.0.2.1', '2001:db8::1'] }));
        },
      },
    },
  });
  t.deepEqual(await online.addresses(({ clientId }) => clientId === 7), [
    { inboundId: 1, clientId: 7, address: '192.0.2.1' },
    { inboundId: 1, clientId: 7, address: '2001:db8::1' },
  ]);
  asked.length = 0;
  for (let i = 0; i < 3; i++) await online.addresses(() => true);
  t.deepEqual(
    asked.map(({ length }) => length),
    [500, 500, 200],
  );
  t.is(new Set(asked.flat()).size, 1200);
});

test('without a core, or of one that cannot say, it is empty', async (t) => {
  for (const reader of [undefined, { readConnections: async () => undefined }])
    t.deepEqual(await new Online({ supervisor: { reader } }).addresses(() => true), []);
});

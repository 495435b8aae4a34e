import test from 'ava';
import { Online } from '../logs/online.js';
import type { CoreApi } from '../xray/api.js';
import { NameMark } from '../xray/name-mark.js';
import { readOnline } from '../xray/online.js';

const reading = {
  readConnections: async () => undefined,
  readLog: async () => undefined,
  logEnd: async () => ({ epoch: '', at: 0 }),
};

test('asks about wanted users of ours only, 500 at a time, in turn', async (t) => {
  const names = [...Array.from({ length: 1200 }, (_, i) => `i1.c${i + 1}`), 'somebody'];
  const asked: (readonly string[])[] = [];
  const online = new Online({
    supervisor: {
      reader: {
        ...reading,
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
  for (const reader of [undefined, reading])
    t.deepEqual(await new Online({ supervisor: { reader } }).addresses(() => true), []);
});

/** A field of length-delimited bytes; all of them are short here. */
const field = (number: number, bytes: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), Buffer.from(bytes)]);

test('the core is asked about each picked user, however many there are', async (t) => {
  const names = Array.from({ length: 20 }, (_, i) => `i1.c${i}`);
  const marks = new NameMark();
  marks.mark = '~mark';
  const api = {
    onlineUsers: async () =>
      Buffer.concat(
        ['user>>>x>>>other', ...names.map((name) => `user>>>${name}~mark>>>online`)].map((name) =>
          field(1, name),
        ),
      ),
    onlineAddresses: async (name: string) => field(2, field(1, `at ${name}`)),
  };
  const asked: (readonly string[])[] = [];
  const users = await readOnline(
    api as unknown as CoreApi,
    (all) => {
      asked.push(all);
      return all.slice(1);
    },
    marks,
  );
  t.deepEqual(asked, [names]);
  t.deepEqual(
    users,
    names.slice(1).map((name) => ({ name, addresses: [`at user>>>${name}~mark>>>online`] })),
  );
});

// What somebody with a session or an API token may send.
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Caller } from './caller.js';
import { type Hostile, keys, MIB, wide } from './hostile-anonymous.js';

const API = '/panel/api';
const clients = (name: string) => `${API}/clients/${name}`;
const many = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));
const unknown = many(10_000, (n) => `${'nobody'.repeat(30)}${n}`);
/** As many keys as so many separators allow, were they not counted for each object. */
const MOST_KEYS = 99_000;
/** Objects of one key each, all different: they take JSON.parse longest. */
const objects = (count: number) => JSON.stringify(many(count, (n) => ({ [`k${n}`]: 1 })));
/** As many as may be different, and as many more as a body may hold. */
const costly = (count: number) => `[${objects(4900)},[${'{"k":1},'.repeat(count)}1]]`;

const fresh = (c: Caller, count: number, from: string) =>
  many(count, (n) => ({ client: { email: `${from}${n}@hostile` }, inboundIds: c.inboundIds }));
const exported = (items: string) => JSON.stringify({ data: items });
const inbound = (fields: object) => ({ port: 1, protocol: 'vless', listen: '127.0.0.1', ...fields });

async function floodSocket(c: Caller): Promise<string> {
  const { port, hostname } = c.panelUrl;
  const socket = connect(Number(port), hostname);
  let heard = '';
  socket.on('data', (chunk: Buffer) => (heard ||= chunk.toString('latin1', 9, 12)));
  socket.on('error', () => undefined);
  const lines = [
    'GET /ws HTTP/1.1',
    'Host: weir',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    `Cookie: ${c.login['cookie']}`,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  // Masked text frames of two bytes, key zero.
  const frame = Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x7b, 0x7d]);
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.write(Buffer.concat(many(50_000, () => frame)));
  await new Promise((resolve) => setTimeout(resolve, 500));
  socket.destroy();
  return heard;
}

export const admin: readonly Hostile[] = [
  [
    'bulkDel: 10 MiB of numbers',
    (c) => c.admin(clients('bulkDel'), `{"emails":${wide(10 * MIB - 20, '1')}}`),
  ],
  ['bulkDel: 199,000 numbers', (c) => c.admin(clients('bulkDel'), { emails: Array(199_000).fill(1) })],
  ['bulkDel: 10,000 numbers', (c) => c.admin(clients('bulkDel'), { emails: Array(10_000).fill(1) })],
  ['bulkDel: 10,000 unknown emails', (c) => c.admin(clients('bulkDel'), { emails: unknown })],
  ['inbounds/add: 99,000 unknown keys', (c) => c.admin(`${API}/inbounds/add`, keys(MOST_KEYS))],
  [
    'bulkDel: one email of 10 MiB',
    (c) => c.admin(clients('bulkDel'), { emails: ['x'.repeat(10 * MIB - 20)] }),
  ],
  [
    'bulkDel: 10 MiB of escapes',
    (c) => c.admin(clients('bulkDel'), `{"emails":["${'\\u0041'.repeat(1_700_000)}"]}`),
  ],
  [
    'bulkDel: a number of 10 million digits',
    (c) => c.admin(clients('bulkDel'), `{"emails":${'9'.repeat(10_000_000)}}`),
  ],
  [
    'bulkDel: gzip of 10 MiB, six at once',
    (c) => {
      const bomb = gzipSync(`{"emails":${wide(10 * MIB - 20, '1')}}`);
      return c.times(6, () => c.admin(clients('bulkDel'), bomb, { 'content-encoding': 'gzip' }));
    },
  ],
  [
    'bulkDel: 99,000 unknown keys, six at once',
    (c) => c.times(6, () => c.admin(clients('bulkDel'), keys(MOST_KEYS))),
  ],
  ['bulkEnable: 1,000 clients', (c) => c.admin(clients('bulkEnable'), { emails: c.emails })],
  [
    'bulkDisable and bulkEnable: 1,000 clients, and back',
    async (c) =>
      `${await c.admin(clients('bulkDisable'), { emails: c.emails })}, ${await c.admin(clients('bulkEnable'), { emails: c.emails })}`,
  ],
  [
    'bulkAdjust: 1,000 clients',
    (c) => c.admin(clients('bulkAdjust'), { emails: c.emails, addDays: 1, addBytes: 1 }),
  ],
  [
    'bulkAttach: 1,000 clients, 1,000 inbounds',
    (c) => c.admin(clients('bulkAttach'), { emails: c.emails, inboundIds: many(1000, (n) => n + 1) }),
  ],
  [
    'bulkResetTraffic: 1,000 clients among 10,000 names',
    (c) => c.admin(clients('bulkResetTraffic'), { emails: [...c.emails, ...unknown.slice(1000)] }),
  ],
  [
    'groups/bulkAdd and bulkRemove: 1,000 clients',
    async (c) =>
      `${await c.admin(clients('groups/bulkAdd'), { emails: c.emails, group: 'g' })}, ${await c.admin(clients('groups/bulkRemove'), { emails: c.emails })}`,
  ],
  ['bulkCreate: 10,000 invalid items', (c) => c.admin(clients('bulkCreate'), Array(10_000).fill(1))],
  [
    'bulkCreate: 66,000 items of one unknown key each',
    (c) =>
      c.admin(
        clients('bulkCreate'),
        many(66_000, (n) => ({ [`k${n}`]: 1 })),
      ),
  ],
  [
    'bulkCreate: an item of 98,000 unknown keys',
    (c) => c.admin(clients('bulkCreate'), `[{"client":${keys(98_000)},"inboundIds":[1]}]`),
  ],
  [
    'bulkCreate: 10,000 emails with blanks and slashes',
    (c) =>
      c.admin(
        clients('bulkCreate'),
        many(10_000, (n) => ({ client: { email: ` /${'a'.repeat(200)}${n} ` }, inboundIds: [1] })),
      ),
  ],
  [
    'bulkCreate: 10,000 clients, then bulkDel',
    async (c) => {
      const items = fresh(c, 10_000, 'many');
      const made = await c.admin(clients('bulkCreate'), items);
      return `${made}, ${await c.admin(clients('bulkDel'), { emails: items.map(({ client }) => client.email) })}`;
    },
  ],
  [
    'import: 10,000 clients, then bulkDel',
    async (c) => {
      const items = fresh(c, 10_000, 'import');
      const made = await c.admin(clients('import'), exported(JSON.stringify(items)));
      return `${made}, ${await c.admin(clients('bulkDel'), { emails: items.map(({ client }) => client.email) })}`;
    },
  ],
  ['import: 200,000 invalid items', (c) => c.admin(clients('import'), exported(wide(400_000, '1')))],
  [
    'import: an item of 1 MiB of unknown keys',
    (c) => c.admin(clients('import'), exported(`[{"client":${keys(90_000)}}]`)),
  ],
  [
    'import: an item of 500,000 items',
    (c) => c.admin(clients('import'), exported(`[{"inboundIds":${wide(1_000_000, '1')}}]`)),
  ],
  ['import: 10 MiB in one text', (c) => c.admin(clients('import'), exported(`["${'x'.repeat(10 * MIB)}"]`))],
  [
    'inbounds/add: settings of 99,000 unknown keys',
    (c) => c.admin(`${API}/inbounds/add`, `{"port":1,"protocol":"vless","settings":${keys(MOST_KEYS)}}`),
  ],
  [
    'inbounds/add: three JSON texts of 99,000 keys',
    (c) => {
      const text = keys(MOST_KEYS);
      return c.admin(
        `${API}/inbounds/add`,
        inbound({ settings: text, streamSettings: text, sniffing: text }),
      );
    },
  ],
  [
    'inbounds/add: settings of 66,000 objects of one key each',
    (c) =>
      c.admin(`${API}/inbounds/add`, `{"port":1,"protocol":"vless","settings":{"a":${objects(66_000)}}}`),
  ],
  [
    'inbounds/add: JSON texts as costly as may be',
    (c) =>
      c.admin(
        `${API}/inbounds/add`,
        inbound({
          settings: `{"a":${costly(60_000)}}`,
          streamSettings: `{"a":${costly(1500)}}`,
          sniffing: `{"a":${costly(1500)}}`,
        }),
      ),
  ],
  [
    'inbounds/import: clients as costly as may be',
    (c) =>
      c.admin(`${API}/inbounds/import`, {
        data: `{"port":70000,"protocol":"vless","settings":{"clients":${costly(60_000)}}}`,
      }),
  ],
  [
    'inbounds/add: 190,000 server names',
    (c) =>
      c.admin(
        `${API}/inbounds/add`,
        inbound({
          streamSettings: {
            network: 'tcp',
            security: 'reality',
            realitySettings: { serverNames: Array(190_000).fill('a.example') },
          },
        }),
      ),
  ],
  [
    'inbounds/bulkDel: 10,000 ids',
    (c) => c.admin(`${API}/inbounds/bulkDel`, { ids: many(10_000, (n) => n + 1000) }),
  ],
  [
    'inbounds/import: 20,000 invalid clients',
    (c) =>
      c.admin(`${API}/inbounds/import`, {
        data: { port: 70_000, protocol: 'vless', settings: { clients: many(20_000, (n) => ({ email: n })) } },
      }),
  ],
  ['setting/update: 9,900 unknown keys', (c) => c.admin(`${API}/setting/update`, keys(9900))],
  [
    'setting/update: texts of 1 MiB',
    (c) => c.admin(`${API}/setting/update`, { subTitle: 'x'.repeat(MIB - 100) }),
  ],
  [
    'clients/add: an email of 1 MiB',
    (c) => c.admin(clients('add'), { client: { email: `${'a '.repeat(MIB / 2 - 100)}` }, inboundIds: [1] }),
  ],
  [
    'clients/add: 1e999 bytes',
    (c) => c.admin(clients('add'), '{"client":{"email":"x","totalGB":1e999},"inboundIds":[1]}'),
  ],
  [
    'list/paged: 50 searches at once',
    (c) =>
      c.times(50, (n) =>
        c.admin(
          `${clients('list/paged')}?sort=remaining&order=descend&pageSize=200&search=${'a'.repeat(200)}${n}`,
        ),
      ),
  ],
  [
    'list/paged: filters of 10,000 characters, 20 at once',
    (c) =>
      c.times(20, () =>
        c.admin(
          `${clients('list/paged')}?status=${'active,'.repeat(500)}&group=${'g,'.repeat(2000)}&inboundIds=${'1,'.repeat(2000)}`,
        ),
      ),
  ],
  ['list: all clients, 20 at once', (c) => c.times(20, () => c.admin(clients('list')))],
  ['export: all clients, 20 at once', (c) => c.times(20, () => c.admin(clients('export')))],
  ['inbounds/list, 20 at once', (c) => c.times(20, () => c.admin(`${API}/inbounds/list`))],
  ['inbounds/get, 20 at once', (c) => c.times(20, () => c.admin(`${API}/inbounds/get/${c.inboundIds[0]}`))],
  ['allLinks, 20 at once', (c) => c.times(20, () => c.admin(`${API}/inbounds/allLinks`))],
  ['groups, 50 at once', (c) => c.times(50, () => c.admin(clients('groups')))],
  ['openapi.json, 20 at once', (c) => c.times(20, () => c.admin(`${API}/openapi.json`))],
  ['resetAllTraffics, 10 at once', (c) => c.times(10, () => c.admin(clients('resetAllTraffics'), {}))],
  ['WebSocket: 50,000 messages', floodSocket],
];

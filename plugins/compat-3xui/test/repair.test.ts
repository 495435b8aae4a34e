// What careless values count as, one by one, and which bodies py3xui alone may leave incomplete.
import test from 'ava';
import { bool, int, list, optional, type RequestInfo, shape, text, validate } from '../../../kernel/index.js';
import type { Input } from '../adapted-route.js';
import { reads } from '../bodies.js';
import type { Call } from '../names.js';
import { repaired } from '../repair.js';

const schema = shape({
  size: optional(int()),
  on: optional(bool()),
  note: optional(text()),
  ids: optional(list(int())),
});
/** The body as it counts; undefined where it stays refused. */
function counted(body: object): unknown {
  try {
    return validate(schema, body);
  } catch (error) {
    return repaired(body, error);
  }
}

for (const [sent, meant] of [
  [{ size: '12' }, { size: 12 }],
  [{ size: '12.9' }, { size: 12 }],
  [{ size: 12.9 }, { size: 12 }],
  [{ size: -12.9 }, { size: -12 }],
  [{ size: '' }, {}],
  [{ size: null }, {}],
  [{ size: 'many' }, undefined],
  [{ size: '1e3' }, undefined],
  [{ size: {} }, undefined],
  [{ on: 'true' }, { on: true }],
  [{ on: 'True' }, { on: true }],
  [{ on: 'false' }, { on: false }],
  [{ on: 'False' }, { on: false }],
  [{ on: '1' }, { on: true }],
  [{ on: '0' }, { on: false }],
  [{ on: 1 }, { on: true }],
  [{ on: 0 }, { on: false }],
  [{ on: 2 }, undefined],
  [{ on: 'yes' }, undefined],
  [{ note: 7 }, { note: '7' }],
  [{ note: null }, {}],
  [{ ids: ['1', 2] }, { ids: [1, 2] }],
  [{ ids: [1.5] }, undefined],
  [{ ids: ['1.5'] }, undefined],
  [{ ids: [1, null] }, undefined],
  [{ ids: [1, ''] }, undefined],
] as const)
  test(`${JSON.stringify(sent)} counts as ${JSON.stringify(meant) ?? 'a mistake'}`, (t) => {
    t.deepEqual(counted(sent), meant);
  });

test('a body with many mistakes is not repaired, and none is changed itself', (t) => {
  const ids = (length: number) => ({ ids: Array.from({ length }, () => '1') });
  const few = ids(20);
  t.deepEqual(counted(few), { ids: Array(20).fill(1) });
  t.deepEqual(few, ids(20));
  t.is(counted(ids(21)), undefined);
  t.is(repaired({ size: '1' }, new Error('another failure')), undefined);
});

const who = { name: '', kind: 'anyone' };
const from = (headers: RequestInfo['headers']) => ({ headers, who, cookies: {} }) as unknown as Input;
const read = (call: Call, body: unknown, headers: RequestInfo['headers'] = {}) =>
  reads[call]?.(body, from(headers), async () => ({}));
const UPDATE = 'POST /panel/api/clients/update/{email}';
const NOTHING = { reset: 0, flow: '', limitIp: 0, comment: '', tgId: 0, totalGB: 0, expiryTime: 0 };
const sent = { email: 'ann', enable: true, id: 'a-uuid' };

test('py3xui sets each field with a default that it leaves out, with its cookie and with a token', (t) => {
  for (const agent of ['python-requests/2.32.3', 'python-httpx/0.28.1']) {
    const withCookie = { 'user-agent': agent, cookie: '3x-ui=x' };
    t.deepEqual(read(UPDATE, sent, withCookie), { ...NOTHING, ...sent });
    const asRead = { ...sent, uuid: 'a-uuid' };
    t.deepEqual(read(UPDATE, asRead, { 'user-agent': agent }), { ...NOTHING, ...asRead });
  }
});

test('an update that py3xui does not send sets nothing', (t) => {
  const python = { 'user-agent': 'python-requests/2.32.3' };
  t.deepEqual(read(UPDATE, sent, python), sent, 'a program of our own, with a token');
  t.deepEqual(read(UPDATE, sent, { 'user-agent': 'axios/1', cookie: '3x-ui=x' }), sent);
  for (const name of ['email', 'enable', 'id']) {
    const less = Object.fromEntries(Object.entries(sent).filter(([one]) => one !== name));
    t.deepEqual(read(UPDATE, less, { ...python, cookie: '3x-ui=x' }), less, name);
  }
});

test('of an inbound, only what means nothing is left out', (t) => {
  const ADD = 'POST /panel/api/inbounds/add';
  t.deepEqual(
    read(ADD, {
      allocate: '{}',
      total: null,
      remark: '',
      settings: { clients: [], decryption: '', peers: [] },
      streamSettings: { network: 'ws', wsSettings: { path: '' }, tlsSettings: {}, externalProxy: [] },
      sniffing: '',
    }),
    {
      remark: '',
      settings: { clients: [], peers: [] },
      streamSettings: { network: 'ws', wsSettings: { path: '' } },
      sniffing: {},
    },
  );
});

test('settings of the core come under each of their names', (t) => {
  const SAVE = 'POST /panel/api/engine/update';
  t.deepEqual(read(SAVE, { xraySetting: '{}', outboundTestUrl: 'u' }), {
    engineSetting: '{}',
    outboundTestUrl: 'u',
  });
  t.deepEqual(read(SAVE, { content: '{}' }), { engineSetting: '{}' });
});

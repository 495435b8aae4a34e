// What hosts refuse, each by its field, with nothing changed.
import test from 'ava';
import { refused } from '../../../test/harness/index.js';
import { externalProxies } from '../external-proxy.js';
import { hostRecord } from '../fields.js';
import { HostCheck } from '../host-check.js';
import { type Fields, HOSTS, openWorld, type World } from './world.js';

let world: World;
let id: number;
let groupId: string;
test.before(async () => {
  world = await openWorld(['ws']);
  id = world.inbounds['ws'] as number;
  groupId = await world.add({ inboundIds: [id], remark: 'good', hosts: ['good.example'] });
});
test.after.always(() => world?.panel[Symbol.asyncDispose]());

const long = (length: number) => 'x'.repeat(length);
const WRONG: readonly (readonly [field: string, fields: Fields, says?: string])[] = [
  ['inboundIds', { inboundIds: [] }],
  ['inboundIds.0', { inboundIds: ['1; DROP TABLE hosts'] }],
  ['inboundIds.1', { inboundIds: [1, 1] }],
  ['inboundIds', { inboundIds: Array.from({ length: 1001 }, (_, i) => i + 1) }],
  ['remark', { remark: '' }],
  ['remark', { remark: long(257) }],
  ['remark', { remark: 'two\nlines' }],
  ['remark', { remark: 'zero\u200bwidth' }],
  ['serverDescription', { serverDescription: long(65) }],
  ['hosts.1', { hosts: ['a.example', 'h1.com:65536'] }, 'port'],
  ['hosts.0', { hosts: ['h1.com:123:456'] }],
  ['hosts.1', { hosts: ['a.example', 'A.example'] }, 'repeats'],
  ['hosts', { hosts: Array.from({ length: 501 }, (_, i) => `h${i}.example`) }],
  ['hosts', { hosts: 'a.example' }],
  ['port', { port: 65_536 }],
  ['port', { port: -1 }],
  ['port', { port: 1.5 }],
  ['port', { port: 'x' }],
  ['security', { security: 'xtls' }],
  ['sni', { sni: 'a b' }],
  ['hostHeader', { hostHeader: 'a\r\nX: 1' }],
  ['path', { path: '/a b' }],
  ['alpn.0', { alpn: ['spdy'] }],
  ['fingerprint', { fingerprint: 'netscape' }],
  ['pinnedPeerCertSha256.0', { pinnedPeerCertSha256: ['abcd'] }],
  ['verifyPeerCertByName', { verifyPeerCertByName: 'a b' }],
  ['echConfigList', { echConfigList: long(20_001) }],
  ['cipherSuites', { cipherSuites: 'A::B' }],
  ['allowInsecure', { allowInsecure: 'maybe' }],
  ['muxParams', { muxParams: '{"concurrency":' }, 'not valid JSON'],
  ['muxParams', { muxParams: '[]' }, 'must be an object'],
  ['muxParams', { muxParams: '{"concurrency":5000}' }, 'concurrency'],
  ['muxParams', { muxParams: '{"protocol":"smux"}' }, 'protocol'],
  ['muxParams', { muxParams: '{"enabled":"yes"}' }, 'enabled'],
  ['muxParams', { muxParams: { concurrency: 4 } }],
  ['sockoptParams', { sockoptParams: '{"mark":-1}' }, 'mark'],
  ['sockoptParams', { sockoptParams: '{"tproxy":"redirect"}' }, 'tproxy'],
  ['finalMask', { finalMask: '{"tcp":[{"type":"sand"}]}' }, 'sand'],
  ['finalMask', { finalMask: '{"tcp":[{"type":"fragment"}]}' }, 'length'],
  [
    'finalMask',
    { finalMask: '{"tcp":[{"type":"fragment","settings":{"length":"1-2","sands":7}}]}' },
    'sands',
  ],
  ['finalMask', { finalMask: '{"tcp":[{"type":"fragment","settings":{"length":"x"}}]}' }, 'length'],
  ['finalMask', { finalMask: '{"quicParams":{"debug":true}}' }, 'debug'],
  ['finalMask', { finalMask: `{"a":${'['.repeat(200)}` }],
  ['finalMask', { finalMask: long(20_001) }],
  ['vlessRoute', { vlessRoute: '65536' }],
  ['vlessRoute', { vlessRoute: '53,443' }],
  ['vlessRoute', { vlessRoute: -1 }],
  ['altIpVersion', { altIpVersion: 'ipv5' }],
  ['excludeFromSubTypes.1', { excludeFromSubTypes: ['raw', 'pigeon'] }, 'pigeon'],
  ['tags.0', { tags: ['eu'] }],
  ['tags.0', { tags: [long(37).toUpperCase()] }],
  ['tags', { tags: Array.from({ length: 11 }, (_, i) => `T${i}`) }],
  ['tags.1', { tags: ['EU', 'EU'] }],
  ['nodeGuids.0', { nodeGuids: ["'; --"] }],
  ['sortOrder', { sortOrder: -1 }],
  ['isHidden', { isHidden: 2 }],
];
for (const [field, fields, says] of WRONG)
  test.serial(`${field}: ${JSON.stringify(fields).slice(0, 80)} is refused`, async (t) => {
    const { panel } = world;
    const before = await panel.get(`${HOSTS}/list`);
    for (const [path, good] of [
      ['add', { inboundIds: [id], remark: 'r' }],
      ['bulk/add', { inboundIds: [id], remark: 'r' }],
      [`update/${groupId}`, {}],
    ] as const)
      await refused(
        t,
        panel,
        `${HOSTS}/${path}`,
        { body: { ...good, ...fields } },
        { status: 400, code: 'KERNEL_INVALID', field, ...(says !== undefined && { says }) },
      );
    t.deepEqual(await panel.get(`${HOSTS}/list`), before);
  });

test.serial('an unknown inbound among known ones is refused, and nothing is written', async (t) => {
  const { panel } = world;
  const before = await panel.get(`${HOSTS}/list`);
  for (const path of ['add', 'bulk/add', `update/${groupId}`])
    await refused(
      t,
      panel,
      `${HOSTS}/${path}`,
      { body: { inboundIds: [id, 9999], remark: 'r' } },
      { status: 404, code: 'INBOUNDS_NOT_FOUND', field: 'inboundIds', says: '9999' },
    );
  t.deepEqual(await panel.get(`${HOSTS}/list`), before);
});

test.serial('remark and inbounds must be there', async (t) => {
  for (const [field, body] of [
    ['remark', { inboundIds: [id] }],
    ['inboundIds', { remark: 'r' }],
  ] as const)
    await refused(t, world.panel, `${HOSTS}/add`, { body }, { status: 400, code: 'KERNEL_INVALID', field });
});

test.serial('an inbound has a highest number of hosts', async (t) => {
  const many = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => `h${from + i}.example`);
  const first = await world.add({ inboundIds: [id], remark: 'r', hosts: many(0, 499) });
  await refused(
    t,
    world.panel,
    `${HOSTS}/add`,
    { body: { inboundIds: [id], remark: 'r', hosts: many(500, 1) } },
    { status: 400, code: 'KERNEL_INVALID', field: 'hosts', says: 'more than 500' },
  );
  // The rows of the group itself do not count twice.
  await world.panel.get(`${HOSTS}/update/${first}`, { body: { hosts: many(100, 499) } });
  await world.panel.get(`${HOSTS}/del/${first}`, { method: 'POST' });
});

test.serial('ids of bulk calls are checked before anything is done', async (t) => {
  for (const [path, body, field] of [
    ['bulk/del', { ids: [groupId, 7] }, 'ids.1'],
    ['bulk/del', { ids: [groupId, groupId] }, 'ids.1'],
    ['reorder', { ids: [groupId, ''] }, 'ids.1'],
    ['bulk/setEnable', { ids: [groupId] }, 'enable'],
    ['bulk/del', { ids: Array.from({ length: 10_001 }, (_, i) => `g${i}`) }, 'ids'],
  ] as const)
    await refused(
      t,
      world.panel,
      `${HOSTS}/${path}`,
      { body },
      { status: 400, code: 'KERNEL_INVALID', field },
    );
  // Words of SQL are ids like others.
  const { body } = await world.panel.call(`${HOSTS}/bulk/del`, { body: { ids: ["' OR '1'='1"] } });
  t.is(body.msg, "host groups deleted: 0; unknown: ' OR '1'='1");
  t.is((await world.panel.get<unknown[]>(`${HOSTS}/list`)).length, 1);
});

test.serial('an external proxy that nobody could dial is refused with the inbound', async (t) => {
  for (const [field, entry] of [
    ['dest', { dest: 'a b', port: 443 }],
    ['port', { dest: 'a.example', port: 70_000 }],
    ['forceTls', { dest: 'a.example', port: 443, forceTls: 'xtls' }],
    ['alpn', { dest: 'a.example', port: 443, alpn: 'spdy' }],
  ] as const)
    await refused(
      t,
      world.panel,
      `/panel/api/inbounds/update/${id}`,
      { body: { streamSettings: { network: 'tcp', externalProxy: [entry] } } },
      { status: 400, code: 'KERNEL_INVALID', field: `streamSettings.externalProxy.0.${field}` },
    );
  const { issues } = externalProxies({ externalProxy: Array(400).fill({ dest: 'a b', port: 'x' }) });
  t.true(issues.length > 50 && issues.length < 60, `${issues.length}: the rest is not read`);
});

test('a format whose plugin is gone may stay where it stands, and comes to no other group', (t) => {
  const ways = { formats: () => ['links'] };
  const check = new HostCheck({ ways } as unknown as ConstructorParameters<typeof HostCheck>[0]);
  const before = hostRecord.create({ excludeFromSubTypes: ['gone'] });
  t.notThrows(() => check.fields({ excludeFromSubTypes: ['gone', 'raw'] }, before));
  t.throws(() => check.fields({ excludeFromSubTypes: ['gone'] }), { message: /there is no format gone/ });
});

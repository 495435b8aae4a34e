// What each endpoint of hosts, inbounds and clients refuses: the status, the code, the field that the message names, and
// that nothing changed. A new endpoint that takes anything needs a line here.
import test from 'ava';
import { everything } from '../harness/refused.js';
import { FakeClock } from '../harness/fake-clock.js';
import { FakeEngine } from '../harness/fake-engine.js';
import { type Answer, TestPanel } from '../harness/panel.js';

interface Case {
  /** in place of `{…}` of the path */
  readonly at?: readonly (string | number)[];
  readonly query?: string;
  readonly body?: unknown;
  readonly status: number;
  readonly code: string;
  /** path of the field at fault */
  readonly names?: string;
}
/** A list call that goes on without what it cannot do: who is left out, and why. */
interface Skips {
  readonly body: unknown;
  readonly skips: readonly string[];
}

const INVALID = { status: 400, code: 'KERNEL_INVALID' } as const;
const invalid = (names: string, body: unknown, at: Case['at'] = []): Case => ({
  ...INVALID,
  names,
  body,
  at,
});
const noClient = (body?: unknown, more: Case['at'] = []): Case[] =>
  [SQL, JSON_TEXT, 'nobody'].map((email) => ({
    at: [email, ...more],
    body,
    status: 404,
    code: 'CLIENTS_NOT_FOUND',
    names: 'email',
  }));
const noInbound = (body?: unknown): Case[] => [
  { at: [4711], body, status: 404, code: 'INBOUNDS_NOT_FOUND', names: 'id' },
  ...['0', '-1', '1.5', SQL, String(2 ** 53)].map((id) => ({ ...INVALID, at: [id], body, names: 'id' })),
];
const noHost = (body?: unknown): Case[] =>
  ['nobody', SQL, JSON_TEXT].map((id) => ({
    at: [id],
    body,
    status: 404,
    code: 'HOSTS_NOT_FOUND',
    names: 'groupId',
  }));
const noGroup = (names: string, body: unknown): Case => ({
  status: 404,
  code: 'CLIENTS_GROUP_NOT_FOUND',
  names,
  body,
});
const unknownInbound = (body: object, at: Case['at'] = []): Case => ({
  at,
  status: 404,
  code: 'INBOUNDS_NOT_FOUND',
  names: 'inboundIds',
  body: { ...body, inboundIds: [1, 4711] },
});

const SQL = "x'; DELETE FROM clients; --";
const JSON_TEXT = '{"$gt":""}';
/** A thousand, and one that is wrong. */
const thousand = <T, U>(good: (i: number) => T, bad: U): (T | U)[] => [
  ...Array.from({ length: 999 }, (_, i) => good(i)),
  bad,
];
const email = (i: number): string => `c${i}`;
/** What each call with a list of emails refuses. */
const emails = (more: object = {}): Case[] => [
  invalid('emails', { ...more, emails: 'ann' }),
  invalid('emails', { ...more, emails: Array.from({ length: 10_001 }, (_, i) => email(i)) }),
  invalid('emails.999', { ...more, emails: thousand(email, 7) }),
  invalid('emails.0', { ...more, emails: ['x'.repeat(256)] }),
];
const skipsUnknown = (more: object = {}): Skips => ({
  body: { ...more, emails: ['nobody', SQL] },
  skips: ['nobody', SQL],
});
const client = { email: 'new' };
const port = 40_000;

const CASES: Readonly<Record<string, readonly (Case | Skips)[]>> = {
  'GET /hosts/get/{groupId}': noHost(),
  'GET /hosts/byInbound/{inboundId}': [
    ...['x', '-1', SQL].map((id) => ({ ...INVALID, at: [id], names: 'inboundId' })),
  ],
  'POST /hosts/add': [
    invalid('port', { inboundIds: [1], remark: 'r', port: 65_536 }),
    invalid('inboundIds.1', { inboundIds: [1, 1], remark: 'r' }),
    invalid('inboundIds.999', { inboundIds: thousand((i) => i + 1, 'x'), remark: 'r' }),
    unknownInbound({ remark: SQL }),
  ],
  'POST /hosts/update/{groupId}': [
    ...noHost({ remark: 'r' }),
    invalid('port', { port: -1 }, ['own']),
    unknownInbound({}, ['own']),
  ],
  'POST /hosts/del/{groupId}': noHost(),
  'POST /hosts/setEnable/{groupId}': [...noHost({ enable: true }), invalid('enable', { enable: 2 }, ['own'])],
  'POST /hosts/reorder': [
    invalid('ids.1', { ids: ['own', 'own'] }),
    invalid('ids.999', { ids: thousand((i) => `g${i}`, 7) }),
    { body: { ids: ['nobody', SQL] }, skips: [] },
  ],
  'POST /hosts/bulk/add': [
    invalid('hosts.0', { inboundIds: [1], remark: 'r', hosts: ['a.example:65536'] }),
    invalid('hosts.1', { inboundIds: [1], remark: 'r', hosts: ['a.example', 'a.example'] }),
    unknownInbound({ remark: 'r' }),
  ],
  'POST /hosts/bulk/setEnable': [
    invalid('enable', { ids: ['own'] }),
    invalid('ids.999', { ids: thousand((i) => `g${i}`, ['own']), enable: false }),
  ],
  'POST /hosts/bulk/del': [
    invalid('ids.1', { ids: ['own', 'own'] }),
    invalid('ids.999', { ids: thousand((i) => `g${i}`, null) }),
  ],

  'GET /inbounds/list': [{ ...INVALID, query: 'stats=maybe', names: 'stats' }],
  'GET /inbounds/list/slim': [{ ...INVALID, query: 'stats=maybe', names: 'stats' }],
  'GET /inbounds/get/{id}': noInbound(),
  'POST /inbounds/add': [
    ...[0, -1, 65_536, '443'].map((wrong) => invalid('port', { protocol: 'vless', port: wrong })),
    invalid('total', { protocol: 'vless', port, total: -1 }),
    invalid('expiryTime', { protocol: 'vless', port, expiryTime: 2 ** 53 }),
    {
      status: 422,
      code: 'INBOUNDS_UNKNOWN_PROTOCOL',
      names: 'protocol',
      body: { protocol: SQL.slice(0, 20), port },
    },
    invalid('settings.clients.999.email', {
      protocol: 'vless',
      port,
      settings: { clients: thousand((i) => ({ email: email(i) }), { email: 7 }) },
    }),
  ],
  'POST /inbounds/update/{id}': [
    ...noInbound({ remark: 'r' }),
    invalid('total', { total: -1 }, [1]),
    invalid('trafficResetDay', { trafficResetDay: 32 }, [1]),
    invalid('settings', { settings: '{"clients":[' }, [1]),
  ],
  'POST /inbounds/del/{id}': noInbound(),
  'POST /inbounds/bulkDel': [
    invalid('ids.0', { ids: ['x'] }),
    invalid('ids.999', { ids: thousand((i) => i + 1000, SQL) }),
    { body: { ids: [4711, 0] }, skips: ['4711', '0'] },
  ],
  'POST /inbounds/setEnable/{id}': [
    ...noInbound({ enable: true }),
    invalid('enable', { enable: 'maybe' }, [1]),
  ],
  'POST /inbounds/{id}/subSortIndex': [
    ...noInbound({ subSortIndex: 2 }),
    invalid('subSortIndex', { subSortIndex: 0 }, [1]),
  ],
  'POST /inbounds/{id}/resetTraffic': noInbound(),
  'POST /inbounds/{id}/delAllClients': noInbound(),
  'POST /inbounds/import': [
    invalid('data', {}),
    invalid('data', { data: '{"protocol":' }),
    { ...INVALID, names: 'port', body: { data: JSON.stringify({ protocol: 'vless', port: 70_000 }) } },
  ],
  'POST /inbounds/pushClientTraffics': [
    invalid('traffics.0.up', { masterGuid: 'g', traffics: [{ email: 'ann', up: -1, down: 0 }] }),
    invalid('traffics.999.down', {
      masterGuid: 'g',
      traffics: thousand((i) => ({ email: email(i), up: 1, down: 1 }), {
        email: 'ann',
        up: 1,
        down: 2 ** 53,
      }),
    }),
  ],
  'GET /inbounds/{id}/fallbacks': noInbound(),
  'POST /inbounds/{id}/fallbacks': [
    ...noInbound({ fallbacks: [] }),
    invalid('fallbacks.0.xver', { fallbacks: [{ dest: '80', xver: 3 }] }, [1]),
    invalid('fallbacks.0.path', { fallbacks: [{ dest: '80', path: SQL }] }, [1]),
    invalid('fallbacks.0.dest', { fallbacks: [{ dest: 65_536 }] }, [1]),
  ],

  'GET /clients/list/paged': [
    { ...INVALID, query: 'page=-1', names: 'page' },
    { ...INVALID, query: 'pageSize=all', names: 'pageSize' },
    { ...INVALID, query: 'usageFrom=x', names: 'usageFrom' },
    { ...INVALID, query: 'autoRenew=maybe', names: 'autoRenew' },
  ],
  'GET /clients/get/{email}': noClient(),
  'GET /clients/get/tgId/{tgId}': [
    { at: [4711], status: 404, code: 'CLIENTS_NOT_FOUND', names: 'tgId' },
    ...['x', '-1', SQL].map((id) => ({ ...INVALID, at: [id], names: 'tgId' })),
  ],
  'POST /clients/add': [
    invalid('client.email', { client: { email: SQL.replaceAll(' ', '/') }, inboundIds: [1] }),
    invalid('client.totalGB', { client: { ...client, totalGB: -1 }, inboundIds: [1] }),
    invalid('client.expiryTime', { client: { ...client, expiryTime: 2 ** 53 }, inboundIds: [1] }),
    {
      status: 409,
      code: 'CLIENTS_EMAIL_TAKEN',
      names: 'client.email',
      body: { client: { email: 'ANN' }, inboundIds: [1] },
    },
    unknownInbound({ client }),
  ],
  'POST /clients/update/{email}': [
    ...noClient({ comment: 'x' }),
    invalid('resetDay', { resetDay: 32 }, ['ann']),
    { at: ['ann'], status: 409, code: 'CLIENTS_EMAIL_TAKEN', names: 'email', body: { email: 'Bob' } },
  ],
  'POST /clients/del/{email}': [
    ...noClient(),
    { ...INVALID, at: ['ann'], query: 'keepTraffic=perhaps', names: 'keepTraffic' },
  ],
  'POST /clients/{email}/attach': [
    ...noClient({ inboundIds: [1] }),
    unknownInbound({}, ['ann']),
    invalid('inboundIds.999', { inboundIds: thousand((i) => i + 1, 0) }, ['ann']),
  ],
  'POST /clients/{email}/detach': [
    ...noClient({ inboundIds: [1] }),
    invalid('inboundIds.0', { inboundIds: [SQL] }, ['ann']),
  ],
  'POST /clients/{email}/externalLinks': [
    ...noClient({ externalLinks: [] }),
    invalid('externalLinks.0.kind', { externalLinks: [{ kind: SQL, value: 'x' }] }, ['ann']),
    invalid('externalLinks.0.expiryTime', { externalLinks: [{ value: 'x', expiryTime: -1 }] }, ['ann']),
  ],
  'POST /clients/import': [invalid('data', { data: 7 }), invalid('data', { data: '{"client":' })],
  'POST /clients/appLink/{id}': [
    { at: [1], status: 409, code: 'APP_LINK_OFF', names: 'appLinkEnable' },
    ...['0', '-1', SQL].map((id) => ({ ...INVALID, at: [id], names: 'id' })),
  ],
  'POST /clients/bulkAdjust': [
    ...emails(),
    invalid('addDays', { emails: ['ann'], addDays: 36_501 }),
    invalid('addBytes', { emails: ['ann'], addBytes: 2 ** 53 }),
    invalid('limitHwid', { emails: ['ann'], limitHwid: -1 }),
    skipsUnknown({ addDays: 1 }),
  ],
  'POST /clients/bulkEnable': [...emails(), skipsUnknown()],
  'POST /clients/bulkDisable': [...emails(), skipsUnknown()],
  'POST /clients/bulkDel': [
    ...emails(),
    invalid('keepTraffic', { emails: ['ann'], keepTraffic: 'perhaps' }),
    skipsUnknown(),
  ],
  'POST /clients/bulkCreate': [
    { ...INVALID, body: { client, inboundIds: [1] } },
    { ...INVALID, body: Array<null>(10_001).fill(null) },
    {
      body: [
        { client: { email: 'ann' }, inboundIds: [1] },
        { client: { email: 'lost' }, inboundIds: [4711] },
        { client: { email: 'minus', totalGB: -1 }, inboundIds: [1] },
      ],
      skips: ['ann', 'lost', 'minus'],
    },
  ],
  'POST /clients/bulkAttach': [
    ...emails({ inboundIds: [1] }),
    invalid('inboundIds.1', { emails: ['ann'], inboundIds: [1, 0] }),
    { body: { emails: ['ann'], inboundIds: [4711] }, skips: [] },
  ],
  'POST /clients/bulkDetach': [
    ...emails({ inboundIds: [1] }),
    invalid('inboundIds.0', { emails: ['ann'], inboundIds: [-1] }),
  ],
  'POST /clients/bulkResetTraffic': emails(),
  'POST /clients/groups/bulkAdd': [
    ...emails({ group: 'g' }),
    invalid('group', { emails: ['ann'], group: '' }),
    invalid('group', { emails: ['ann'], group: 'x'.repeat(256) }),
  ],
  'POST /clients/groups/bulkRemove': emails(),
  'POST /clients/groups/create': [
    invalid('name', { name: 'a\u0000b' }),
    invalid('name', { name: { $gt: '' } }),
    { status: 409, code: 'CLIENTS_GROUP_TAKEN', names: 'name', body: { name: 'family' } },
  ],
  'POST /clients/groups/rename': [
    noGroup('oldName', { oldName: SQL, newName: 'n' }),
    invalid('newName', { oldName: 'family', newName: '' }),
  ],
  'POST /clients/groups/delete': [invalid('name', { name: ['family'] })],
  'POST /clients/groups/resetTraffic': [noGroup('name', { name: SQL })],
  'POST /clients/resetTraffic/{email}': noClient(),
  'POST /clients/updateTraffic/{email}': [
    ...noClient({ upload: 1, download: 1 }),
    invalid('upload', { upload: -1, download: 0 }, ['ann']),
    invalid('download', { upload: 1, download: 2 ** 53 }, ['ann']),
  ],
  'POST /clients/hwids/{email}': noClient(),
  'DELETE /clients/hwids/{email}': noClient(),
  'DELETE /clients/hwids/{email}/{deviceId}': [
    ...noClient(undefined, [1]),
    { at: ['ann', 4711], status: 404, code: 'DEVICES_NOT_FOUND', names: 'deviceId' },
    ...['0', 'x', SQL].map((id) => ({ ...INVALID, at: ['ann', id], names: 'deviceId' })),
  ],
  'GET /clients/traffic/{email}': noClient(),
  'GET /clients/links/{email}': noClient(),
  'POST /server/clientIps': [
    { ...INVALID, names: '0.ips.0.ip', body: [{ clientEmail: 'ann', ips: [{ ip: SQL, timestamp: 1 }] }] },
    {
      ...INVALID,
      names: '0.ips.0.timestamp',
      body: [{ clientEmail: 'ann', ips: [{ ip: '::1', timestamp: -1 }] }],
    },
    {
      ...INVALID,
      names: '999.clientEmail',
      body: thousand((i) => ({ clientEmail: email(i), ips: null }), { clientEmail: 7, ips: null }),
    },
  ],
  'GET /x/traffic/preview': [
    { ...INVALID, query: 'until=soon', names: 'until' },
    { status: 400, code: 'TRAFFIC_UNTIL_OUT_OF_RANGE', query: 'until=1', names: 'until' },
  ],
};
/** Whatever comes in the path succeeds; the reason. */
const TAKES_ALL: ReadonlyMap<string, string> = new Map([
  ['GET /clients/groups/{name}/emails', 'an unknown group has no clients'],
  ['GET /clients/subLinks/{subId}', 'an unknown subId has no links'],
  ['POST /clients/ips/{email}', 'an unknown client has no addresses'],
  ['POST /clients/clearIps/{email}', 'an unknown client has no addresses'],
]);

const API = '/panel/api';
const SECTION = /^\/panel\/api(\/(?:hosts|inbounds|clients|server\/clientIps|x\/traffic)\b.*)$/;
let panel: TestPanel;
let routes: {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly hasBody: boolean;
  readonly limit: number;
}[];
test.before(async () => {
  panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock: new FakeClock() });
  await panel.addInbound();
  await panel.addClient('ann', [1], { subId: 'ann', group: 'family', totalGB: 5000 });
  await panel.addClient('bob', [1], { group: 'family' });
  await panel.get(`${API}/clients/groups/create`, { body: { name: 'family' } });
  await panel.get(`${API}/hosts/add`, { body: { groupId: 'own', inboundIds: [1], remark: 'own' } });
  routes = panel.kernel.listeners
    .routes()
    .filter(({ route }) => route.listener === 'panel' && (route.body ?? route.params ?? route.query))
    .flatMap(({ route, path }) => {
      const section = SECTION.exec(path)?.[1];
      return section === undefined
        ? []
        : [
            {
              name: `${route.method} ${section}`,
              method: route.method,
              path,
              hasBody: route.body !== undefined,
              limit: route.bodyLimit ?? 0,
            },
          ];
    });
});
test.after.always(() => panel?.[Symbol.asyncDispose]());

/** All that an admin can see. */
const state = async (): Promise<string> =>
  (await everything(panel)) +
  JSON.stringify(
    await Promise.all(
      ['hosts/list', 'clients/export', 'clients/groups', 'inbounds/1/fallbacks', 'server/clientIps'].map(
        (path) => panel.get(`${API}/${path}`),
      ),
    ),
  );
interface Obj {
  readonly issues?: readonly { readonly path: string; readonly message: string }[];
  readonly skipped?: readonly (string | { readonly email?: string; readonly id?: number })[];
}
const ask = (
  route: (typeof routes)[number],
  { at = [], query = '', body }: Pick<Case, 'at' | 'query' | 'body'>,
): Promise<Answer<Obj | null>> => {
  const rest = [...at];
  const path = route.path.replaceAll(/\{[^}]+\}/g, () => encodeURIComponent(String(rest.shift() ?? '')));
  return panel.call(query === '' ? path : `${path}?${query}`, {
    method: route.method,
    ...(body !== undefined && { body }),
  });
};

test.serial('every endpoint that takes anything has a case of what it refuses', (t) => {
  t.true(routes.length > 50, `${routes.length} endpoints`);
  t.deepEqual(routes.map(({ name }) => name).sort(), [...Object.keys(CASES), ...TAKES_ALL.keys()].sort());
});

test.serial('each refuses what it cannot do, names the field and changes nothing', async (t) => {
  for (const route of routes) {
    const before = await state();
    for (const wanted of CASES[route.name] ?? []) {
      const label = `${route.name} ${JSON.stringify(wanted).slice(0, 200)}`;
      const { status, body, text } = await ask(route, wanted);
      if ('skips' in wanted) {
        t.is(status, 200, `${label}: ${text.slice(0, 300)}`);
        t.deepEqual(
          (body.obj?.skipped ?? [])
            .map((left) => String(typeof left === 'string' ? left : (left.email ?? left.id)))
            .sort(),
          [...wanted.skips].sort(),
          label,
        );
        continue;
      }
      t.deepEqual([status, body.code], [wanted.status, wanted.code], `${label}: ${text.slice(0, 300)}`);
      if (wanted.names === undefined) continue;
      const issue = body.obj?.issues?.find(({ path }) => path === wanted.names);
      t.truthy(issue, `${label}: ${text.slice(0, 300)}`);
      t.true(body.msg.includes(issue?.message ?? '?'), label);
    }
    t.is(await state(), before, `${route.name} changed something`);
  }
});

test.serial('each refuses a body beyond its limit, which is 10 MiB for most that take lists', async (t) => {
  for (const { name, path, method, limit } of routes.filter(({ hasBody }) => hasBody)) {
    const rawBody = `{"x":"${'x'.repeat(Math.max(limit, 10 * 2 ** 20))}"}`;
    const filled = path.replaceAll(/\{[^}]+\}/g, '1');
    const answer = await panel.call(filled, {
      method,
      rawBody,
      headers: { 'content-type': 'application/json' },
    });
    t.is(answer.status, 413, `${name}: ${answer.text.slice(0, 200)}`);
    t.is(answer.body.code, 'KERNEL_TOO_LARGE', name);
  }
});

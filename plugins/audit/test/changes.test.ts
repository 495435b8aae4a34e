// Runs on every database in test:full.
// What is recorded of each kind of change, by whom, and what is not.
import test, { type ExecutionContext } from 'ava';
import { definePlugin, during, message, type Principal, route, shape, text } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel, until } from '../../../test/harness/index.js';
import type { PanelOptions } from '../../../test/harness/panel.js';
import { withDatabase } from '../../../test/harness/edit-database.js';
import { contribute } from '../../../kernel/index.js';
import { audited, AuditedHooks } from '../contract.js';

interface Change {
  readonly id: number;
  readonly entry: number;
  readonly at: number;
  readonly who: string;
  readonly whoKind: string;
  readonly ip: string;
  readonly area: string;
  readonly kind: string;
  readonly name: string;
  readonly subject: string;
  readonly fields: Readonly<Record<string, readonly [unknown, unknown]>>;
}
const API = '/panel/api/x/audit';

async function boot(t: ExecutionContext, options: PanelOptions = {}) {
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], ...options });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const changes = (query = '') => panel.get<Change[]>(`${API}/changes?limit=200${query}`);
  return { panel, changes };
}

test.serial('each change is recorded once, with who asked and from where', async (t) => {
  const { panel, changes } = await boot(t);
  const before = Date.now();
  const inbound = await panel.addInbound({ remark: 'one' });
  await panel.addClient('ada', [inbound], { totalGB: 5, group: 'family' });
  await panel.get('/panel/api/clients/update/ada', { body: { totalGB: 7, comment: 'more' } });
  await panel.get('/panel/api/clients/update/ada', { body: { totalGB: 7 } });
  const twin = await panel.call('/panel/api/clients/add', {
    body: { client: { email: 'ada' }, inboundIds: [inbound] },
  });
  t.is(twin.status, 409);
  await panel.get('/panel/api/clients/groups/create', { body: { name: 'work' } });
  await panel.get('/panel/api/setting/update', { body: { pageSize: 50 } });
  const { token } = (
    await panel.call<{ token: string }>('/panel/api/setting/apiTokens/create', { body: { name: 'bot' } })
  ).body.obj;
  const asBot = { anonymous: true, headers: { authorization: `Bearer ${token}` } };
  await panel.call('/panel/api/clients/del/ada', { method: 'POST', ...asBot });
  const host = { remark: 'front', inboundIds: [inbound], hosts: ['front.example'] };
  await panel.call('/panel/api/hosts/add', { body: host });
  await panel.get('/panel/api/engine/update', {
    body: { engineSetting: { outbounds: [{ tag: 'direct', protocol: 'freedom' }] } },
  });
  await panel.get(`/panel/api/inbounds/del/${inbound}`, { method: 'POST' });

  const found = (await changes()).toReversed();
  const told = found.filter(({ whoKind, area }) => whoKind !== 'plugin' && area !== 'session');
  t.deepEqual(
    told.map(({ kind, area, name, who }) => `${who}: ${kind} ${area} ${name}`),
    [
      `admin: added inbound ${told[0]?.name}`,
      'admin: added client ada',
      'admin: updated client ada',
      'admin: added group work',
      'admin: updated setting pageSize',
      'admin: added token bot',
      'bot: deleted client ada',
      'admin: added host front',
      'admin: updated coreTemplate engineSetting',
      `admin: deleted inbound ${told[0]?.name}`,
    ],
  );
  const [, added, updated, , setting, , deleted] = told;
  t.deepEqual(
    told.filter(({ ip, at }) => ip !== '127.0.0.1' || at < before || at > Date.now()),
    [],
  );
  t.is(deleted?.whoKind, 'token');
  t.like(added?.fields, { email: [null, 'ada'], totalGB: [null, 5], enable: [null, true] });
  t.false('comment' in (added?.fields ?? {}), 'blank fields of a new record say nothing');
  t.deepEqual(updated?.fields, { totalGB: [5, 7], comment: ['', 'more'] });
  t.is(updated?.subject, added?.subject);
  t.deepEqual(setting?.fields['value']?.[1], 50);
  t.like(deleted?.fields, { email: ['ada', null] });
  const ids = found.map(({ id }) => id);
  t.deepEqual(
    ids,
    ids.toSorted((a, b) => a - b),
  );
});

test.serial('fallbacks, links of elsewhere and balancers are recorded, and who signed in', async (t) => {
  const { panel, changes } = await boot(t);
  const tls = { network: 'tcp', security: 'none' };
  const inbound = await panel.addInbound({ protocol: 'vless', streamSettings: tls });
  const child = await panel.addInbound({ listen: '127.0.0.1' });
  await panel.addClient('ada', [inbound]);
  await panel.get(`/panel/api/inbounds/${inbound}/fallbacks`, {
    body: { fallbacks: [{ childId: child, path: '/p' }] },
  });
  const link = (value: string) => ({
    body: { externalLinks: [{ kind: 'link', value, remark: 'far' }] },
  });
  const [one, two] = ['one', 'two'].map((name) => `trojan://hidden-${name}@192.0.2.1:443#${name}`);
  await panel.get('/panel/api/clients/ada/externalLinks', link(one as string));
  await panel.get('/panel/api/clients/ada/externalLinks', link(two as string));
  const balancer = { remark: 'both', strategy: 'random', inboundIds: [inbound] };
  const { id } = await panel.get<{ id: number }>('/panel/api/sub-balancers', { body: balancer });
  await panel.get(`/panel/api/sub-balancers/${id}`, { body: { ...balancer, strategy: 'roundRobin' } });
  await panel.get(`/panel/api/sub-balancers/${id}/del`, { method: 'POST' });

  const of = async (area: string) =>
    (await changes(`&area=${area}`))
      .toReversed()
      .map(({ kind, subject, fields }) => ({ kind, subject, fields }));
  const [fallback] = await of('fallback');
  t.is(fallback?.subject, String(inbound));
  t.deepEqual(fallback?.fields['fallbacks.0.path'], [null, '/p']);
  const links = await of('externalLink');
  t.deepEqual(links[0]?.fields['links.0.remark'], [null, 'far']);
  t.deepEqual(links[1]?.fields, { 'links.0.value': ['(secret)', '(secret)'] });
  t.false(JSON.stringify(links).includes('hidden'));
  const balancers = await of('subBalancer');
  t.deepEqual(
    balancers.map(({ kind }) => kind),
    ['added', 'updated', 'deleted'],
  );
  t.deepEqual(balancers[1]?.fields, { strategy: ['random', 'roundRobin'] });
  const wrong = { username: 'nobody', password: 'not this one' };
  t.false((await panel.call('/login', { body: wrong, anonymous: true })).body.success);
  await panel.login();
  await panel.login();
  await until(async () => (await changes('&area=session')).length > 0, 'the login is recorded');
  t.like((await changes('&area=session'))[0], { who: 'admin', name: 'login', ip: '127.0.0.1', kind: 'done' });
  t.is((await changes('&area=session')).length, 1);
});

test.serial('the list is filtered and paged', async (t) => {
  const { panel, changes } = await boot(t);
  const inbound = await panel.addInbound();
  for (const email of ['a', 'b', 'c']) await panel.addClient(email, [inbound]);
  const middle = (await changes('&name=b'))[0] as Change;
  await panel.get('/panel/api/clients/update/a', { body: { comment: 'x' } });
  const names = async (query: string) => (await changes(query)).map(({ name }) => name);
  t.deepEqual(await names('&area=client'), ['a', 'c', 'b', 'a']);
  t.deepEqual(await names('&area=client&kind=updated'), ['a']);
  t.deepEqual(await names(`&area=client&before=${middle.id}`), ['a']);
  t.deepEqual(await names(`&subject=${middle.subject}&area=client`), ['b']);
  t.deepEqual(await names('&who=nobody'), []);
  t.deepEqual(await names('&ip=192.0.2.1'), []);
  t.deepEqual(await names(`&area=client&to=${middle.at}`).then((list) => list.includes('c')), false);
  t.deepEqual(await names(`&from=${Date.now() + 60_000}`), []);
  t.true((await names(`&from=${middle.at}&area=client`)).includes('b'));
  t.is((await panel.get<Change[]>(`${API}/changes?limit=1`)).length, 1);
  for (const query of ['limit=201', 'limit=0', 'kind=none', 'from=-1', 'before=x', `name=${'n'.repeat(256)}`])
    t.is((await panel.call(`${API}/changes?${query}`)).status, 400, query);
});

test.serial('a clock that went back hides no change from the list', async (t) => {
  const clock = new FakeClock();
  const { panel, changes } = await boot(t, { clock });
  const inbound = await panel.addInbound();
  const MINUTE = 60_000;
  const begun = clock.now();
  for (const [email, minutes] of Object.entries({ a: 0, ahead: 120, b: 60 })) {
    clock.jump(begun + minutes * MINUTE - clock.now());
    await panel.addClient(email, [inbound]);
  }
  const names = async (query: string) =>
    (await changes(`&area=client${query}`)).map(({ name }) => name).toReversed();
  const middle = begun + 90 * MINUTE;
  t.deepEqual(await names(`&to=${middle}`), ['a', 'b']);
  t.deepEqual(await names(`&from=${middle}`), ['ahead']);
  t.deepEqual(await names(`&from=${begun + 1}&to=${middle}`), ['b']);
});

test.serial('the log has the newest entry once a day, as a verification takes it', async (t) => {
  const clock = new FakeClock();
  const { panel } = await boot(t, { clock });
  await panel.addInbound();
  const verify = (body: object) => panel.get<{ problems: string[] }>(`${API}/verify`, { body });
  clock.tick(86_400_000);
  await panel.kernel.settled();
  await panel.login();
  const line = panel.log.findLast((each) => each.includes('the newest entry of the record of changes'));
  const { head } = JSON.parse(line ?? '{}') as { head: string };
  t.regex(head, /^\d+:[0-9a-f]{64}$/);
  t.deepEqual((await verify({ head })).problems, []);
});

test.serial('no secret is recorded, only that it changed', async (t) => {
  const { panel, changes } = await boot(t);
  const secrets: string[] = [];
  const secret = (name: string): string => {
    secrets.push(`${name}-0123456789abcdef`);
    return secrets.at(-1) as string;
  };
  const stream = {
    network: 'ws',
    security: 'none',
    wsSettings: { path: '/shown', headers: { authorization: 'Basic c2Vlbg', 'X-Api-Key': 'seen-key' } },
  };
  secrets.push('c2Vlbg', 'seen-key');
  const inbound = await panel.addInbound({ protocol: 'vless', streamSettings: stream });
  const ss = await panel.addInbound({
    protocol: 'shadowsocks',
    settings: { method: '2022-blake3-aes-256-gcm', network: 'tcp' },
  });
  const wg = await panel.addInbound({ protocol: 'wireguard' });
  type Keys = { settings: { password?: string; secretKey?: string } };
  for (const id of [ss, wg]) {
    const { settings } = await panel.get<Keys>(`/panel/api/inbounds/get/${id}`);
    const generated = settings.password ?? settings.secretKey ?? '';
    t.true(generated.length > 20);
    secrets.push(generated);
  }
  await panel.addClient('ada', [inbound, wg], { password: secret('password'), subId: 'sub0123456789abcdef' });
  secrets.push('sub0123456789abcdef');
  const client = await panel.get<{ uuid: string; auth: string }>('/panel/api/clients/get/ada');
  secrets.push(client.uuid, client.auth);
  await panel.get('/panel/api/clients/update/ada', { body: { password: secret('other') } });
  await panel.get('/panel/api/engine/update', {
    body: {
      engineSetting: {
        outbounds: [
          {
            tag: 'far',
            protocol: 'vless',
            settings: {
              vnext: [{ address: '192.0.2.1', port: 443, users: [{ id: client.uuid, encryption: 'none' }] }],
            },
          },
          {
            tag: 'socks',
            protocol: 'socks',
            settings: { servers: [{ users: [{ user: 'u', pass: secret('pass') }] }] },
          },
        ],
      },
    },
  });
  await panel.get('/panel/api/setting/apiTokens/create', { body: { name: 'bot' } });
  const all = JSON.stringify(await changes());
  for (const value of secrets) t.false(all.includes(value), value);
  const [updated] = await changes('&name=ada&kind=updated');
  t.deepEqual(updated?.fields, { password: ['(secret)', '(secret)'] });
  t.true(all.includes('/shown') && all.includes('192.0.2.1'), 'the rest is');
  const stored = await withDatabase(panel.dataDirectory, async (sequelize) =>
    JSON.stringify((await sequelize.query('SELECT * FROM audit_changes'))[0]),
  );
  for (const value of secrets) t.false(stored.includes(value), value);
});

test.serial('a call that changes thousands is one entry with a change for each', async (t) => {
  const { panel, changes } = await boot(t);
  const inbound = await panel.addInbound();
  const items = Array.from({ length: 2500 }, (_, i) => ({
    client: { email: `c${i}` },
    inboundIds: [inbound],
  }));
  await panel.get('/panel/api/clients/bulkCreate', { body: items });
  const emails = items.map(({ client }) => client.email);
  await panel.get('/panel/api/clients/bulkDisable', { body: { emails } });
  const [last] = await changes('&name=c2499&kind=updated');
  t.deepEqual(last?.fields, { enable: [true, false] });
  const {
    entries,
    changes: count,
    problems,
  } = await panel.get<{
    entries: number;
    changes: number;
    problems: string[];
  }>(`${API}/verify`, { method: 'POST' });
  t.deepEqual(problems, []);
  t.true(count >= 5001, String(count));
  t.true(entries < 200, String(entries));
});

interface Shelf {
  readonly before: { readonly books: number } | undefined;
  readonly after: { readonly books: number } | undefined;
}
const duringShelfSave = during<{ readonly changes: readonly Shelf[]; readonly who: Principal }>(
  'shelf/duringShelfSave',
);
/** A third-party plugin whose changes are recorded. */
const shelf = (describe: (change: Shelf) => never = (() => undefined) as never) =>
  definePlugin({
    name: 'shelf',
    version: '1.0.0',
    api: 1,
    about: 'A shelf.',
    hooks: [duringShelfSave],
    contributes: () => [
      contribute(
        AuditedHooks,
        audited({
          area: 'shelf',
          hook: duringShelfSave,
          secret: ['place'],
          describe: (change) =>
            describe(change) ?? {
              kind: 'updated',
              name: 'books',
              before: change.before,
              after: change.after,
            },
        }),
      ),
    ],
    routes: ({ db }) => [
      route({
        method: 'POST',
        path: '/panel/api/x/shelf/put',
        doc: 'Puts books.',
        body: shape({ place: text() }).example({ place: 'left' }),
        reply: message(),
        handle: async ({ body, who }) => {
          const [before, after] = [
            { books: 1, place: 'here' },
            { books: 2, place: body.place },
          ];
          // Two entries of one write.
          await db.write(async (tx) => {
            await tx.during(duringShelfSave, { changes: [{ before, after }], who });
            await tx.during(duringShelfSave, { changes: [{ before: after, after: before }], who });
          });
          return 'done';
        },
      }),
    ],
  });

test.serial(
  'a third-party plugin has its changes recorded; one that cannot describe them is named, and nothing is lost',
  async (t) => {
    const { panel, changes } = await boot(t, { outside: [shelf()] });
    await panel.get('/panel/api/x/shelf/put', { body: { place: 'left' } });
    t.like((await changes('&area=shelf'))[0], {
      name: 'books',
      who: 'admin',
      fields: { books: [2, 1], place: ['(secret)', '(secret)'] },
    });
    const { problems } = await panel.get<{ problems: string[] }>(`${API}/verify`, { method: 'POST' });
    t.deepEqual(problems, []);
    const broken = await boot(t, {
      outside: [
        shelf(() => {
          throw new Error('no idea');
        }),
      ],
    });
    t.is((await broken.panel.call('/panel/api/x/shelf/put', { body: { place: 'left' } })).status, 200);
    t.like((await broken.changes('&area=shelf'))[0], { name: '', who: 'admin', fields: {} });
    t.true(broken.panel.log.some((line) => line.includes('no idea') && line.includes('shelf')));
  },
);

test.serial(
  'a hook that its plugin does not declare leaves that plugin out, and not the audit',
  async (t) => {
    const { panel, changes } = await boot(t, { outside: [{ ...shelf(), hooks: [] }], partial: true });
    t.true(panel.log.some((line) => line.includes('must be one that its plugin declares')));
    await panel.addInbound();
    t.is((await changes('&area=inbound')).length, 1);
  },
);

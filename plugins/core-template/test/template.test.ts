// Runs on every database in test:full.
// What a template may be, and its history; what the core makes of it is in template.core.test.ts.
import test, { type ExecutionContext } from 'ava';
import type { Principal } from '../../../kernel/index.js';
import { FakeEngine, refused, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import type { JsonObject } from '../../engine/contract.js';
import { DEFAULT_TEMPLATE } from '../default-template.js';
import plugin from '../index.js';
import { partsOf } from '../template-parts.js';
import type { TemplateService } from '../template-service.js';
import type { TemplateStore } from '../template-store.js';

const API = '/panel/api/engine';
const HISTORY = '/panel/api/x/core-template';
interface Template {
  readonly engineSetting: string;
  readonly inboundTags: string;
  readonly clientReverseTags: string;
  readonly outboundTestUrl: string;
}

async function boot(t: ExecutionContext) {
  const observed = servicesOf<{ readonly store: TemplateStore; readonly service: TemplateService }>(plugin);
  const panel = await TestPanel.boot({ plugins: [observed.plugin, new FakeEngine().plugin] });
  t.teardown(() => panel[Symbol.asyncDispose]());
  return {
    panel,
    /** the service of the panel */
    service: () => observed.services.service,
    read: () => panel.get<Template>(`${API}/`, { method: 'POST' }),
    save: (engineSetting: unknown) => panel.call(`${API}/update`, { body: { engineSetting } }),
    /** memory is the database */
    isTrue: async () => {
      const { memory } = observed.services.store;
      t.deepEqual(memory.state, await memory.fresh());
    },
  };
}
const direct = { tag: 'direct', protocol: 'freedom' };
const nested = (value: unknown, levels: number): unknown =>
  levels === 0 ? value : [nested(value, levels - 1)];
const withRule = (rule: object) => ({ outbounds: [direct], routing: { rules: [rule] } });

test('a new panel has the default template, in both places, and names what rules may use', async (t) => {
  const { panel, read } = await boot(t);
  const id = await panel.addInbound({ remark: 'one' });
  const { tag } = (await panel.get<{ tag: string }[]>('/panel/api/inbounds/list'))[0] ?? { tag: '' };
  await panel.addClient('a', [id], { reverse: { tag: 'home' } });
  const { engineSetting, inboundTags, clientReverseTags, outboundTestUrl } = await read();
  t.deepEqual(JSON.parse(engineSetting), DEFAULT_TEMPLATE);
  t.is(inboundTags, JSON.stringify([tag]));
  t.is(clientReverseTags, '["home"]');
  t.is(outboundTestUrl, 'https://www.google.com/generate_204');
  for (const path of ['engine', 'setting'])
    t.deepEqual(await panel.get(`/panel/api/${path}/getDefaultJsonConfig`), DEFAULT_TEMPLATE);
});

test('it is taken as text, as an object, as a form, and out of wrappers', async (t) => {
  const { panel, read, save, isTrue } = await boot(t);
  const template = (name: string) => ({ outbounds: [{ ...direct, tag: name }] });
  const stored = async () => JSON.parse((await read()).engineSetting) as unknown;
  t.is((await save(template('a'))).status, 200);
  t.deepEqual(await stored(), template('a'));
  t.is((await save(JSON.stringify(template('b')))).status, 200);
  t.deepEqual(await stored(), template('b'));
  t.is((await save({ engineSetting: JSON.stringify({ xraySetting: template('c') }) })).status, 200);
  t.deepEqual(await stored(), template('c'));
  const form = new URLSearchParams({
    engineSetting: JSON.stringify(template('d')),
    outboundTestUrl: 'https://probe.example/204',
  });
  const answer = await panel.call(`${API}/update`, {
    rawBody: String(form),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  t.is(answer.status, 200, answer.text);
  t.deepEqual(await stored(), template('d'));
  t.is((await read()).outboundTestUrl, 'https://probe.example/204');
  await isTrue();
});

test('what has no effect is named', async (t) => {
  const { save } = await boot(t);
  const { body } = await save({
    outbounds: [direct],
    api: { tag: 'api', services: [] },
    stats: {},
    metrics: { listen: '127.0.0.1:11111' },
    inbounds: [{ tag: 'api', protocol: 'dokodemo-door' }],
    log: { access: 'none', loglevel: 'error' },
    routing: { domainStrategy: 'IPOnDemand', rules: [{ inboundTag: ['api'], outboundTag: 'api' }], old: 1 },
    strange: {},
  });
  for (const part of [
    'the core does not know strange',
    'the panel sets api, stats, metrics itself',
    'the panel sets the inbound api itself',
    'log.access',
    'log.loglevel is at least warning',
    'IPOnDemand works as IPIfNonMatch',
    'the core does not know routing.old',
  ])
    t.true(body.msg.includes(part), `${part}: ${body.msg}`);
});

test('refuses what is no template, by its place', async (t) => {
  const { panel } = await boot(t);
  const many = (count: number) => Array.from({ length: count }, (_, at) => ({ ...direct, tag: `t${at}` }));
  const cases: readonly [unknown, string, string][] = [
    [{ outbounds: {} }, 'outbounds', 'it must be a list'],
    [{ outbounds: [1] }, 'outbounds.0', 'it must be an object'],
    [{ outbounds: [{ protocol: 'freedom' }] }, 'outbounds.0.tag', 'it needs a tag'],
    [{ outbounds: [{ tag: 'a' }] }, 'outbounds.0.protocol', 'it needs a protocol'],
    [{ outbounds: [direct, direct] }, 'outbounds.1.tag', 'engineSetting.outbounds.0 has the tag direct too'],
    [{ outbounds: [{ ...direct, tag: 'weir.udp.direct' }] }, 'outbounds.0.tag', 'belong to the panel'],
    [{ outbounds: [{ ...direct, tag: 'x'.repeat(129) }] }, 'outbounds.0.tag', 'the most are 128'],
    [{ outbounds: many(1001) }, 'outbounds', 'the most are 1000'],
    [{ inbounds: [{ tag: 'mine', protocol: 'socks' }] }, 'inbounds.0', 'inbounds/add'],
    [{ transport: {} }, 'transport', 'no such section any more'],
    [{ dns: [] }, 'dns', 'it must be an object'],
    [{ dns: { servers: [5] } }, 'dns.servers.0', 'an address or an object'],
    [{ policy: 1 }, 'policy', 'it must be an object'],
    [{ routing: { domainStrategy: 'Never' } }, 'routing.domainStrategy', 'AsIs, IPIfNonMatch or IPOnDemand'],
    [withRule({ port: '1', outboundTag: 'direct', enabled: 1 }), 'routing.rules.0.enabled', 'true or false'],
    [
      { routing: { balancers: [{ tag: 'b', selector: many(201).map(({ tag }) => tag) }] } },
      'routing.balancers.0.selector',
      'the most are 200',
    ],
    [{ routing: { balancers: [{ tag: 'b' }] } }, 'routing.balancers.0.selector', 'beginnings of tags'],
    [
      { routing: { balancers: [{ tag: 'b', selector: ['d'], strategy: { type: 'leastPing' } }] } },
      'routing.balancers.0',
      'needs an observatory',
    ],
    [
      {
        outbounds: [
          { ...direct, tag: 'a', streamSettings: { sockopt: { dialerProxy: 'b' } } },
          { ...direct, tag: 'b', proxySettings: { tag: 'a' } },
        ],
      },
      'outbounds.0.streamSettings.sockopt.dialerProxy',
      'in a circle',
    ],
  ];
  for (const [engineSetting, field, says] of cases)
    await refused(
      t,
      panel,
      `${API}/update`,
      { body: { engineSetting } },
      { status: 422, code: 'CORE_TEMPLATE_INVALID', field: `engineSetting.${field}`, says },
    );
  for (const engineSetting of [
    '{"a":',
    '[]',
    '5',
    '"x"',
    `${'{"engineSetting":'.repeat(10)}{}${'}'.repeat(10)}`,
    // Indented, it would take 46 MB.
    JSON.stringify({
      policy: nested(
        Array.from({ length: 150_000 }, () => 0),
        90,
      ),
    }),
  ])
    await refused(
      t,
      panel,
      `${API}/update`,
      { body: { engineSetting } },
      { status: 400, code: 'KERNEL_INVALID', field: 'engineSetting' },
    );
  for (const outboundTestUrl of ['ftp://x', 'http://a.example:99999/', 'http://a%00.example/'])
    await refused(
      t,
      panel,
      `${API}/update`,
      { body: { engineSetting: {}, outboundTestUrl } },
      { status: 400, code: 'KERNEL_INVALID', field: 'outboundTestUrl' },
    );
});

test('the last ten are kept, can be read and compared, and come back', async (t) => {
  const { panel, read, save, isTrue } = await boot(t);
  for (let port = 1; port <= 12; port++) await save(withRule({ port: String(port), outboundTag: 'direct' }));
  const history = await panel.get<{ id: number; inForce: boolean; savedAt: number; author: string }[]>(
    `${HISTORY}/history`,
  );
  t.is(history.length, 10);
  t.deepEqual(
    history.map(({ id }) => id),
    Array.from({ length: 10 }, (_, at) => 12 - at),
  );
  t.deepEqual(history.map(({ inForce }) => inForce).filter(Boolean), [true]);
  t.true(history[0]?.inForce);
  t.is(history[0]?.author, 'admin');
  const old = await panel.get<{ engineSetting: string }>(`${HISTORY}/history/3`);
  t.deepEqual(JSON.parse(old.engineSetting), withRule({ port: '3', outboundTag: 'direct' }));
  t.deepEqual(await panel.get(`${HISTORY}/compare?from=3&to=5`), [
    { op: 'remove', path: '/routing/rules/0' },
    { op: 'add', path: '/routing/rules/0', value: { port: '5', outboundTag: 'direct' } },
  ]);
  t.deepEqual(await panel.get(`${HISTORY}/compare?from=12`), []);
  t.is((await panel.call(`${HISTORY}/restore/3`, { method: 'POST' })).status, 200);
  t.is((await read()).engineSetting, old.engineSetting);
  for (const path of [`${HISTORY}/history/3`, `${HISTORY}/history/1`, `${HISTORY}/compare?from=1`])
    t.is((await panel.call(path)).body.code, 'CORE_TEMPLATE_NOT_FOUND');
  t.is((await panel.call(`${HISTORY}/restore/99`, { method: 'POST' })).status, 404);
  await isTrue();
});

test('changes at the same time are made one after another, and none is lost', async (t) => {
  const { read, service, isTrue } = await boot(t);
  const who: Principal = { kind: 'session', name: 'admin' };
  const add = (tag: string) =>
    service().change(
      (template) => ({
        ...template,
        outbounds: [...(template['outbounds'] as JsonObject[]), { tag, protocol: 'blackhole' }],
      }),
      who,
      tag,
    );
  const sent = { outbounds: [direct, { tag: 'sent', protocol: 'blackhole' }] };
  const tags = async () =>
    (JSON.parse((await read()).engineSetting) as { outbounds: { tag: string }[] }).outbounds.map(
      ({ tag }) => tag,
    );
  const saving = service().save({ template: sent, note: '' }, who);
  await Promise.all([saving, ...['one', 'two', 'three'].map(add)]);
  t.deepEqual(await tags(), ['direct', 'sent', 'one', 'two', 'three']);
  await isTrue();
});

test('what no rule takes leaves by the first outbound', (t) => {
  const { parts } = partsOf({ outbounds: ['a', 'b', 'c'].map((tag) => ({ ...direct, tag })) });
  t.deepEqual(
    parts.map(({ part }) => 'outbound' in part && [part.outbound['tag'], part.isDefault]),
    [
      ['a', true],
      ['b', false],
      ['c', false],
    ],
  );
});

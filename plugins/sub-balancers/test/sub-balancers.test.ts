// Runs on every database in test:full.
// The five endpoints, with every rule, and the documents of balancers.
import test, { type ExecutionContext } from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import { documentsOf, switchOn } from '../../sub-json/test/client-program.js';
import type { BalancerStore } from '../balancer-store.js';
import type { Balancer } from '../fields.js';
import balancers from '../index.js';

const PATH = '/panel/api/sub-balancers';

async function boot(t: ExecutionContext) {
  const observed = servicesOf<{ readonly store: BalancerStore }>(balancers);
  const panel = await TestPanel.boot({ plugins: [observed.plugin, new FakeEngine().plugin] });
  t.teardown(() => panel[Symbol.asyncDispose]());
  await switchOn(panel);
  const inbounds = [
    await panel.addInbound({ remark: 'tcp', subSortIndex: 1 }),
    await panel.addInbound({ remark: 'ws', subSortIndex: 2, streamSettings: { network: 'ws' } }),
    await panel.addInbound({ remark: 'trojan', subSortIndex: 3, protocol: 'trojan' }),
  ];
  return {
    panel,
    inbounds,
    create: (body: object) => panel.call<Balancer>(PATH, { body }),
    form: (path: string, text: string) =>
      panel.call<Balancer>(path, {
        rawBody: text,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    list: () => panel.get<Balancer[]>(PATH),
    /** memory is the database */
    isTrue: async () => {
      const { memory } = observed.services.store;
      t.deepEqual(memory.state, await memory.fresh());
    },
  };
}
test('a balancer is created, changed, listed in order, and deleted by either endpoint', async (t) => {
  const { panel, inbounds, create, list, isTrue } = await boot(t);
  const [a = 0, b = 0] = inbounds;
  t.deepEqual(await list(), []);
  const { body } = await create({ remark: '  Auto ', inboundIds: [a, b, a] });
  const { id, createdAt, updatedAt, version, ...rest } = body.obj as Balancer & { version: string };
  t.regex(version, /^[0-9a-f]{16}$/);
  t.deepEqual(rest, {
    remark: 'Auto',
    strategy: 'random',
    inboundIds: [a, b],
    memberWeights: {},
    sortOrder: 1,
    enabled: true,
  });
  t.true(createdAt > 0 && updatedAt === createdAt);
  t.is(body.msg, 'balancer added');
  const later = (await create({ remark: 'later', inboundIds: [a], sortOrder: 5 })).body.obj;
  const first = (await create({ remark: 'first', inboundIds: [a], sortOrder: -3, enabled: false })).body.obj;
  t.is(first.sortOrder, 1);
  t.deepEqual(
    (await list()).map(({ remark }) => remark),
    ['Auto', 'first', 'later'],
  );
  const changed = await panel.get<Balancer>(`${PATH}/${id}`, {
    body: { strategy: 'leastLoad', memberWeights: { [a]: 0.5, [b]: '3', 999: 1 }, sortOrder: 9 },
  });
  t.like(changed, {
    remark: 'Auto',
    strategy: 'leastLoad',
    memberWeights: { [a]: 0.5, [b]: 3 },
    sortOrder: 9,
    enabled: true,
    createdAt,
  });
  t.true(changed.updatedAt >= updatedAt);
  t.deepEqual(
    (await list()).map(({ remark }) => remark),
    ['first', 'later', 'Auto'],
  );
  t.like(await panel.get<Balancer>(`${PATH}/${id}`, { body: { inboundIds: [b] } }), {
    memberWeights: { [b]: 3 },
  });
  t.deepEqual(
    (await panel.get<Balancer>(`${PATH}/${id}`, { body: { strategy: 'leastPing' } })).memberWeights,
    {},
  );
  t.is(
    (await panel.get<Balancer>(`${PATH}/${id}`, { body: { strategy: '', enabled: '' } })).strategy,
    'random',
  );
  await isTrue();
  t.is((await panel.get<Balancer>(`${PATH}/${later.id}`, { method: 'DELETE' })).remark, 'later');
  t.is((await panel.get<Balancer>(`${PATH}/${first.id}/del`, { method: 'POST' })).remark, 'first');
  t.deepEqual(
    (await list()).map(({ remark }) => remark),
    ['Auto'],
  );
  await isTrue();
});

test('forms are taken, with a repeated key or a list as text', async (t) => {
  const { panel, inbounds, form } = await boot(t);
  const [a = 0, b = 0, c = 0] = inbounds;
  const made = await form(
    PATH,
    `remark=Fast+one&strategy=leastLoad&inboundIds=${a}&inboundIds=${b}&memberWeights=${encodeURIComponent(`{"${a}":2}`)}&sortOrder=2&enabled=false`,
  );
  t.like(made.body.obj, {
    remark: 'Fast one',
    strategy: 'leastLoad',
    inboundIds: [a, b],
    memberWeights: { [a]: 2 },
    sortOrder: 2,
    enabled: false,
  });
  const { id } = made.body.obj;
  for (const [text, ids] of [
    [`inboundIds=${c}`, [c]],
    [`inboundIds=${a}%2C${c}`, [a, c]],
    [`inboundIds=[${b},${a}]`, [b, a]],
  ] as const)
    t.deepEqual((await form(`${PATH}/${id}`, text)).body.obj.inboundIds, ids as never);
  t.true((await form(`${PATH}/${id}`, 'enabled=true')).body.obj.enabled);
  t.true(
    (await form(`${PATH}/${id}`, 'enabled=&sortOrder=&memberWeights=&inboundIds=&remark=x')).body.obj.enabled,
  );
  t.is((await panel.get<Balancer[]>(PATH))[0]?.remark, 'x');
  const nothing = { strategy: null, memberWeights: null, inboundIds: null, sortOrder: null, enabled: null };
  const same = await panel.get<Balancer>(`${PATH}/${id}`, { body: nothing });
  t.like(same, { strategy: 'random', memberWeights: {}, inboundIds: [b, a], enabled: true });
});

test('what is no balancer is refused, with the field and the way out', async (t) => {
  const { panel, inbounds, create, form } = await boot(t);
  const [a = 0] = inbounds;
  const good = { remark: 'x', inboundIds: [a] };
  const cases: readonly (readonly [body: object, status: number, sentence: RegExp])[] = [
    [{ inboundIds: [a] }, 400, /^remark is required/],
    [{ ...good, remark: '   ' }, 400, /^remark: the name/],
    [{ ...good, remark: 'x'.repeat(257) }, 400, /remark length must be less/],
    [{ ...good, remark: 'a\nb' }, 400, /remark must be: text of one line/],
    [{ remark: 'x' }, 400, /^inboundIds is required/],
    [{ ...good, inboundIds: [] }, 400, /inboundIds: select at least one inbound/],
    [{ ...good, inboundIds: ['one'] }, 400, /inboundIds\[0\]: "one" is not the id of an inbound/],
    [{ ...good, inboundIds: [1.5] }, 400, /inboundIds\[\d+\]: 1\.5 is not the id/],
    [{ ...good, inboundIds: [999] }, 404, /999/],
    [{ ...good, inboundIds: Array.from({ length: 1001 }, (_, i) => i + 1) }, 400, /more than 1000 inbounds/],
    [
      { ...good, strategy: 'best' },
      400,
      /strategy: it must be one of random, roundRobin, leastPing, leastLoad/,
    ],
    [{ ...good, memberWeights: { [a]: 2 } }, 400, /memberWeights: only leastLoad has weights, not random/],
    [
      { ...good, strategy: 'leastLoad', memberWeights: { [a]: 0 } },
      400,
      /memberWeights: the weight of \d+ must be a number above 0/,
    ],
    [{ ...good, strategy: 'leastLoad', memberWeights: { [a]: -1 } }, 400, /above 0/],
    [{ ...good, strategy: 'leastLoad', memberWeights: { [a]: 'NaN' } }, 400, /above 0/],
    [{ ...good, strategy: 'leastLoad', memberWeights: { x: 1 } }, 400, /"x" is not the id/],
    [{ ...good, strategy: 'leastLoad', memberWeights: [1] }, 400, /memberWeights: it must map ids/],
    [
      { ...good, strategy: 'leastLoad', memberWeights: '{' },
      400,
      /memberWeights: it is not an object in JSON/,
    ],
    [{ ...good, sortOrder: 1.5 }, 400, /sortOrder: it must be an integer/],
    [{ ...good, enabled: 'perhaps' }, 400, /enabled: it must be true or false/],
  ];
  for (const [body, status, sentence] of cases) {
    const answer = await create(body);
    t.is(answer.status, status, answer.text);
    t.regex(answer.body.msg, sentence);
  }
  t.regex((await form(PATH, 'remark=x')).body.msg, /inboundIds is required/);
  const { id } = (await create({ ...good, strategy: 'leastLoad', memberWeights: '' })).body.obj;
  t.is((await panel.call(`${PATH}/${id}`, { body: { remark: '' } })).status, 400);
  t.is((await panel.call(`${PATH}/${id}`, { body: { inboundIds: [] } })).status, 400);
  for (const answer of [
    await panel.call(`${PATH}/999`, { body: good }),
    await panel.call(`${PATH}/999`, { method: 'DELETE' }),
    await panel.call(`${PATH}/999/del`, { method: 'POST' }),
  ])
    t.deepEqual([answer.status, answer.body.code], [404, 'SUB_BALANCERS_NOT_FOUND']);
  t.is((await panel.call(PATH, { anonymous: true })).status, 401);
});

test('there are at most 200', async (t) => {
  const { inbounds, create, list } = await boot(t);
  const answers = [];
  for (let i = 0; i <= 200; i++) answers.push(await create({ remark: `b${i}`, inboundIds: [inbounds[0]] }));
  t.deepEqual(
    answers.map(({ status }) => status),
    [...Array<number>(200).fill(200), 409],
  );
  t.is((await list()).length, 200);
});

test('an inbound that is deleted leaves its balancers', async (t) => {
  const { panel, inbounds, create, list, isTrue } = await boot(t);
  const [a = 0, b = 0] = inbounds;
  await create({
    remark: 'both',
    inboundIds: [a, b],
    strategy: 'leastLoad',
    memberWeights: { [a]: 2, [b]: 3 },
  });
  await create({ remark: 'one', inboundIds: [a] });
  await panel.get(`/panel/api/inbounds/del/${a}`, { method: 'POST' });
  t.deepEqual(
    (await list()).map(({ inboundIds, memberWeights }) => ({ inboundIds, memberWeights })),
    [
      { inboundIds: [b], memberWeights: { [b]: 3 } },
      { inboundIds: [], memberWeights: {} },
    ],
  );
  await isTrue();
});

test('its document has the entries of its inbounds, and every rule to the proxy leads to the balancer', async (t) => {
  const { panel, inbounds, create } = await boot(t);
  const [a = 0, b = 0, c = 0] = inbounds;
  const { id } = (await create({ remark: 'bal', inboundIds: [a, b], strategy: 'leastLoad' })).body.obj;
  await panel.get('/panel/api/setting/update', {
    body: {
      subJsonRules: JSON.stringify([
        { domain: ['a.b'], outboundTag: 'proxy' },
        { domain: ['c.d'], outboundTag: 'direct' },
      ]),
      subJsonObservatory: '{"interval":"30s"}',
    },
  });
  const { subId } = await panel.addClient('ada', inbounds);
  const other = await panel.addClient('other', [c]);
  const read = async () => documentsOf(panel.subscriptionUrl, subId);
  const found = async () => (await read()).find(({ remarks }) => remarks === 'bal');
  t.deepEqual(
    (await read()).map(({ remarks }) => remarks),
    ['tcp', 'bal', 'ws', 'trojan'],
  );
  const document = await found();
  const tags = [`bal-${id}-vless`, `bal-${id}-vless-2`];
  t.deepEqual(
    document?.outbounds.map(({ tag }) => tag),
    [...tags, 'direct', 'block'],
  );
  t.deepEqual(document?.routing, {
    domainStrategy: 'AsIs',
    rules: [
      { domain: ['a.b'], balancerTag: 'balancer' },
      { domain: ['c.d'], outboundTag: 'direct' },
      { type: 'field', network: 'tcp,udp', balancerTag: 'balancer' },
    ],
    balancers: [
      { tag: 'balancer', selector: [`bal-${id}-`], strategy: { type: 'leastLoad' }, fallbackTag: tags[0] },
    ],
  });
  t.deepEqual(document?.burstObservatory, {
    subjectSelector: [`bal-${id}-`],
    pingConfig: {
      destination: 'https://www.google.com/generate_204',
      connectivity: '',
      interval: '30s',
      sampling: 2,
      timeout: '5s',
      httpMethod: 'HEAD',
    },
  });
  const [plain] = await read();
  t.deepEqual(
    plain?.routing.rules.map((rule) => rule['outboundTag']),
    ['proxy', 'direct', 'proxy'],
  );
  t.is(plain?.burstObservatory, undefined);

  const edit = (body: object) => panel.get(`${PATH}/${id}`, { body });
  await edit({ memberWeights: { [b]: 0.5 }, sortOrder: 3 });
  t.deepEqual(
    (await read()).map(({ remarks }) => remarks),
    ['tcp', 'ws', 'trojan', 'bal'],
  );
  t.deepEqual((await found())?.routing.balancers?.[0]?.['strategy'], {
    type: 'leastLoad',
    settings: {
      costs: [
        { regexp: true, match: `^${tags[0]}$`, value: 1 },
        { regexp: true, match: `^${tags[1]}$`, value: 0.5 },
      ],
    },
  });
  await edit({ strategy: 'leastPing' });
  t.true((await found())?.burstObservatory !== undefined);
  for (const strategy of ['random', 'roundRobin']) {
    await edit({ strategy });
    const { routing, burstObservatory } = (await found()) ?? {};
    t.deepEqual(routing?.balancers, [
      { tag: 'balancer', selector: [`bal-${id}-`], strategy: { type: strategy } },
    ]);
    t.is(burstObservatory, undefined);
  }
  t.deepEqual(
    (await documentsOf(panel.subscriptionUrl, other.subId)).map(({ remarks }) => remarks),
    ['trojan'],
  );
  await panel.get(`/panel/api/inbounds/setEnable/${b}`, { body: { enable: false } });
  t.deepEqual(
    (await found())?.outbounds.map(({ tag }) => tag),
    [tags[0], 'direct', 'block'] as string[],
  );
  await panel.get('/panel/api/hosts/add', {
    body: { remark: 'h', hosts: ['h1.example', 'h2.example'], inboundIds: [a] },
  });
  t.deepEqual(
    (await found())?.outbounds.map(({ tag }) => tag),
    [...tags, 'direct', 'block'],
  );
  await edit({ enabled: false });
  t.is(await found(), undefined);
});

test('without this plugin there is no such document, and without the format it does no harm', async (t) => {
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], without: ['sub-json'] });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const id = await panel.addInbound();
  t.is((await panel.call(PATH, { body: { remark: 'x', inboundIds: [id] } })).status, 200);
  t.deepEqual(panel.faults, []);
});

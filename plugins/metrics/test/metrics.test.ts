import { readFile } from 'node:fs/promises';
import test, { type ExecutionContext } from 'ava';
import { contribute, definePlugin, type Log, type Plugin } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { refused } from '../../../test/harness/refused.js';
import { sourceRoot } from '../../../test/harness/source-root.js';
import { type Metric, Metrics } from '../contract.js';
import { Exposition } from '../exposition.js';

interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}
interface Scrape {
  readonly types: ReadonlyMap<string, string>;
  readonly series: readonly Series[];
  readonly contentType: string;
}

/** Reads the text format as a strict scraper does: each line is a comment with help or type, or a series. */
function parse(text: string, contentType: string): Scrape {
  const types = new Map<string, string>();
  const helped = new Set<string>();
  const series: Series[] = [];
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const comment = /^# (HELP|TYPE) ([a-z_0-9]+) (.+)$/.exec(line);
    if (comment) {
      const [, kind = '', name = '', rest = ''] = comment;
      if (kind === 'HELP') helped.add(name);
      else types.set(name, rest);
      continue;
    }
    const found = /^([a-z_0-9]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*)\})? (-?[\d.e+-]+|Nan)$/.exec(line);
    if (!found) throw new Error(`not a line of the format: ${line}`);
    const [, name = '', labels = '', value] = found;
    if (!types.has(name) || !helped.has(name)) throw new Error(`${name} has no type or help before it`);
    series.push({
      name,
      value: Number(value),
      labels: Object.fromEntries(
        [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', of = '']) => [
          label,
          of.replaceAll(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char)),
        ]),
      ),
    });
  }
  return { types, series, contentType };
}

async function openWorld(
  t: ExecutionContext,
  outside: readonly Plugin[] = [],
  without: readonly string[] = [],
) {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const panel = await TestPanel.boot({ plugins: [engine.plugin], outside, clock, without });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const create = async () =>
    (await panel.get<{ token: string }>('/panel/api/x/metrics/token', { method: 'POST' })).token;
  const fetchText = (token: string) =>
    fetch(`${panel.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  const token = await create();
  const scrape = async () => {
    const answer = await fetchText(token);
    t.is(answer.status, 200);
    return parse(await answer.text(), answer.headers.get('content-type') ?? '');
  };
  return {
    engine,
    clock,
    panel,
    token,
    create,
    fetchText,
    scrape,
    value: async (name: string, labels: Readonly<Record<string, string>> = {}) =>
      (await scrape()).series.find(
        (one) => one.name === name && Object.entries(labels).every(([label, of]) => one.labels[label] === of),
      )?.value,
    set: (body: object) => panel.get('/panel/api/setting/update', { body }),
    poll: async () => {
      clock.tick(5000);
      await panel.kernel.settled();
    },
  };
}

test('the token opens /metrics and nothing else, and nothing else opens it', async (t) => {
  const { panel, token, create, fetchText } = await openWorld(t);
  const status = async (headers: Record<string, string>) =>
    (await fetch(`${panel.url}/metrics`, { headers })).status;
  t.is(await status({ authorization: `Bearer ${token}` }), 200);
  const { token: apiToken } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'bot' },
  });
  for (const headers of [
    {},
    { cookie: panel.cookie },
    { authorization: `Bearer ${apiToken}` },
    { authorization: `Basic ${token}` },
    { authorization: `Bearer ${token}x` },
    { authorization: 'Bearer ' },
    { authorization: `Bearer ${'x'.repeat(5000)}` },
  ] as Record<string, string>[])
    t.is(await status(headers), 401);
  t.is((await fetchText(token)).headers.get('cache-control'), 'no-store');
  const denied = await fetch(`${panel.url}/metrics`);
  t.is(denied.headers.get('www-authenticate'), 'Bearer');
  t.like(await denied.json(), { success: false, code: 'METRICS_TOKEN' });
  const api = await fetch(`${panel.url}/panel/api/server/status`, {
    headers: { authorization: `Bearer ${token}` },
  });
  t.is(api.status, 401);
  t.is((await fetch(`${panel.url}/panel/api/x/metrics/token`, { method: 'POST' })).status, 401);

  const next = await create();
  t.not(next, token);
  t.is((await fetchText(token)).status, 401, 'the previous one is void');
  t.is((await fetchText(next)).status, 200);
  t.true((await panel.get<{ createdAt: number }>('/panel/api/x/metrics/token')).createdAt > 0);
  await panel.get('/panel/api/x/metrics/token', { method: 'DELETE' });
  t.is((await fetchText(next)).status, 401);
  t.deepEqual(await panel.get('/panel/api/x/metrics/token'), { createdAt: null });
  t.false(panel.log.join('\n').includes(next));
});

test('names, types and units follow the conventions', async (t) => {
  const { scrape, set } = await openWorld(t);
  await set({ metricsDetail: 'clients' });
  const { types, series, contentType } = await scrape();
  t.regex(contentType, /^text\/plain; version=0\.0\.4/);
  t.true(types.size > 30);
  for (const [name, type] of types) {
    t.regex(name, /^(?:weir|process|nodejs)_[a-z0-9_]+$/);
    t.is(name.endsWith('_total'), type === 'counter', name);
    t.notRegex(name, /_(?:ms|milliseconds|kb|mb|percent|minutes)(?:_|$)/, name);
  }
  for (const { name, value } of series) t.true(Number.isFinite(value) && value >= 0, name);
  const keys = series.map(({ name, labels }) => JSON.stringify([name, labels]));
  t.is(new Set(keys).size, keys.length, 'each series once');
});

test('the figures are those of the panel', async (t) => {
  const { engine, panel, value, poll, clock, set } = await openWorld(t);
  const inboundId = await panel.addInbound();
  const ann = await panel.addClient('ann', [inboundId]);
  const ben = await panel.addClient('ben', [inboundId], { totalGB: 100 });
  await panel.addClient('off', [inboundId], { enable: false });
  t.is(await value('weir_last_poll_timestamp_seconds'), 0);
  engine.move(inboundId, ann.id, 10, 20);
  engine.move(inboundId, ben.id, 100, 1000);
  await poll();
  engine.move(inboundId, ann.id, 1, 2);
  await poll();
  t.is(await value('weir_traffic_bytes_total', { direction: 'up' }), 111);
  t.is(await value('weir_traffic_bytes_total', { direction: 'down' }), 1022);
  t.is(await value('weir_polls_total'), 2);
  t.is(await value('weir_last_poll_timestamp_seconds'), clock.now() / 1000);
  t.is(await value('weir_clients', { state: 'enabled' }), 1);
  t.is(await value('weir_clients', { state: 'quota' }), 1);
  t.is(await value('weir_clients', { state: 'disabled' }), 1);
  t.is(await value('weir_clients_depleted_total', { cause: 'quota' }), 1);
  t.is(await value('weir_clients_online'), 1);
  t.is(await value('weir_inbounds', { state: 'enabled' }), 1);
  t.is(await value('weir_core_running'), 1);
  engine.running = false;
  t.is(await value('weir_core_running'), 0);
  const { mem } = await panel.get<{ mem: { total: number } }>('/panel/api/server/status');
  t.is(await value('weir_host_memory_size_bytes'), mem.total);
  const cpu = (await value('weir_host_cpu_usage_ratio')) ?? -1;
  t.true(cpu >= 0 && cpu <= 1);
  t.is(await value('weir_alarm_active', { alarm: 'cpu' }), 0);

  t.is(await value('weir_client_bytes_total'), undefined);
  await set({ metricsDetail: 'clients' });
  t.is(await value('weir_client_bytes_total', { client: 'ann', direction: 'down' }), 22);
  await panel.get('/panel/api/clients/resetTraffic/ben', { method: 'POST' });
  t.is(await value('weir_client_bytes_total', { client: 'ben' }), undefined);
  const [{ tag = '' } = {}] = await panel.get<{ tag?: string }[]>('/panel/api/inbounds/list');
  t.is(await value('weir_inbound_bytes_total', { inbound: tag, direction: 'up' }), 111);
});

test('the number of series stays the same without detail, and is bounded with it', async (t) => {
  const { engine, panel, scrape, set, poll } = await openWorld(t);
  // Alarms are there from their first reading on.
  await poll();
  await poll();
  const count = async () => (await scrape()).series.length;
  const before = await count();
  const inboundId = await panel.addInbound();
  await panel.addInbound();
  for (let i = 0; i < 30; i++) {
    const { id } = await panel.addClient(`c${i}`, [inboundId]);
    engine.move(inboundId, id, i + 1, 0);
  }
  await poll();
  t.is(await count(), before);
  await set({ metricsDetail: 'inbounds' });
  t.is(await count(), before + 4);
  await set({ metricsDetail: 'clients', metricsMostClients: 7 });
  const { series } = await scrape();
  t.is(series.length, before + 4 + 14);
  t.deepEqual(
    series
      .filter(({ name, labels }) => name === 'weir_client_bytes_total' && labels['direction'] === 'up')
      .map(({ labels, value }) => [labels['client'], value]),
    Array.from({ length: 7 }, (_, i) => [`c${29 - i}`, 30 - i]),
    'those with most bytes',
  );
});

test('metrics of other plugins are shown; one that fails is left out and counted', async (t) => {
  const metric = (name: string, collect: Metric['collect'], part: Partial<Metric> = {}) =>
    contribute(Metrics, {
      name: `weir_acme_${name}`,
      help: 'A "metric"\\ of\nacme.',
      type: 'gauge',
      collect,
      ...part,
    });
  const acme = definePlugin({
    name: 'acme',
    version: '1.0.0',
    api: 1,
    about: 'Has metrics.',
    contributes: () => [
      metric('good', () => [{ value: 1.5, labels: { of: 'a "b"\\\n\u2028é' } }], { labels: ['of'] }),
      metric('throws', () => {
        throw new Error('a bug');
      }),
      metric('words', () => [{ value: 'many' as unknown as number }]),
      metric('unlabelled', () => [{ value: 1 }], { labels: ['of'] }),
      metric('endless', function* () {
        for (;;) yield { value: 1 };
      }),
      metric('twice', () => [{ value: 1 }, { value: 2 }]),
    ],
  });
  const { scrape, panel } = await openWorld(t, [acme]);
  const { series } = await scrape();
  const of = (name: string) => series.filter((one) => one.name === name);
  t.deepEqual(of('weir_acme_good'), [
    { name: 'weir_acme_good', value: 1.5, labels: { of: 'a "b"\\\n\u2028é' } },
  ]);
  for (const name of ['throws', 'words', 'unlabelled', 'endless']) t.deepEqual(of(`weir_acme_${name}`), []);
  t.is(of('weir_metrics_failed')[0]?.value, 4);
  t.is(of('weir_core_running')[0]?.value, 1);
  t.regex(panel.faults.join('\n'), /^acme, the metric weir_acme_throws/m);
  t.is(of('weir_acme_twice').length, 1);
});

test('a counter that is no number, endless, or less than zero, is zero and harms no other', async (t) => {
  const counter = (name: string, value: number) => ({
    value: { name, help: 'Odd.', type: 'counter' as const, collect: () => [{ value }] },
    fault: () => undefined,
  });
  const exposition = new Exposition({ log: { debug: () => undefined } as unknown as Log });
  const text = await exposition.text([
    counter('weir_low_total', -1),
    counter('weir_nan_total', Number.NaN),
    counter('weir_endless_total', Number.POSITIVE_INFINITY),
    counter('weir_good_total', 3),
  ]);
  for (const name of ['weir_low_total', 'weir_nan_total', 'weir_endless_total', 'weir_metrics_failed'])
    t.true(text.split('\n').includes(`${name} 0`), name);
  t.true(text.split('\n').includes('weir_good_total 3'));
});

test('a metric of 10,000 clients is written in slices, with one header', async (t) => {
  const samples = Array.from({ length: 20_000 }, (_, i) => ({
    value: i,
    labels: { client: `c${i >> 1}"\\\n`, direction: i % 2 === 0 ? 'up' : 'down' },
  }));
  const large: Metric = {
    name: 'weir_large_total',
    help: 'Large.\n# TYPE weir_large_total gauge',
    type: 'counter',
    labels: ['client', 'direction'],
    collect: () => samples,
  };
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const exposition = new Exposition({ log: { debug: () => undefined } as unknown as Log });
  const text = await exposition.text([{ value: large, fault: () => undefined }]);
  clearInterval(timer);
  t.true(turns >= 4, `others had ${turns} turns`);
  const lines = text.trimEnd().split('\n');
  t.is(lines.filter((line) => line.startsWith('# HELP weir_large_total')).length, 1);
  t.is(lines.filter((line) => line === '# TYPE weir_large_total counter').length, 1);
  const series = lines.filter((line) => line.startsWith('weir_large_total{'));
  t.is(new Set(series).size, 20_000);
  t.true(series.includes('weir_large_total{client="c9999\\"\\\\\\n",direction="down"} 19999'), series.at(-1));
  t.is(lines.length, 20_000 + 2 + 3);
});

test('a metric with a name that breaks the conventions is refused at the start', async (t) => {
  const good: Metric = { name: 'weir_acme_good', help: 'x', type: 'gauge', collect: () => [] };
  const wrong: [Partial<Metric>, RegExp][] = [
    [{ name: 'weir_core_running' }, /must begin with weir_acme_/],
    [{ name: 'weir_acme_Bad' }, /small letters/],
    [{ name: 'weir_acme_good_total' }, /gauge .* must not end with _total/],
    [{ type: 'counter' }, /must end with _total/],
    [{ type: 'histogram' as 'gauge' }, /gauge or a counter/],
    [{ help: '' }, /help/],
    [{ labels: ['a-b'] }, /labels/],
    [{ collect: 1 as unknown as Metric['collect'] }, /collect/],
  ];
  for (const [part, reason] of wrong) {
    const acme = definePlugin({
      name: 'acme',
      version: '1.0.0',
      api: 1,
      about: 'Has a bad metric.',
      contributes: () => [contribute(Metrics, { ...good, ...part })],
    });
    await using panel = await TestPanel.boot({
      plugins: [new FakeEngine().plugin],
      outside: [acme],
      partial: true,
      anonymous: true,
    });
    const state = panel.kernel.plugins().find(({ name }) => name === 'acme');
    t.regex(JSON.stringify(state), reason);
  }
});

test('wrong settings are refused by name; without its neighbours it works', async (t) => {
  const { panel } = await openWorld(t);
  const bad = { status: 400, code: 'KERNEL_INVALID' };
  const path = '/panel/api/setting/update';
  for (const metricsDetail of ['all', '', 1, null])
    await refused(t, panel, path, { body: { metricsDetail } }, { ...bad, field: 'metricsDetail' });
  for (const metricsMostClients of [0, 10_001, 1.5, 'x'])
    await refused(t, panel, path, { body: { metricsMostClients } }, { ...bad, field: 'metricsMostClients' });
  const alone = await openWorld(t, [], ['server-status', 'alarms', 'realtime']);
  const { series } = await alone.scrape();
  t.true(series.some(({ name }) => name === 'weir_clients'));
  t.false(series.some(({ name }) => name.startsWith('weir_host_')));
});

/** Names and label matchers of metrics in an expression. */
const usedIn = (expr: string) =>
  [...expr.matchAll(/\b((?:weir|process|nodejs)_[a-z0-9_]+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', match = '']) => ({
      name,
      labels: [...match.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
    }),
  );

test('every query of the dashboard asks for metrics and labels that exist', async (t) => {
  const { engine, panel, scrape, set, poll } = await openWorld(t);
  const inboundId = await panel.addInbound();
  const { id } = await panel.addClient('ann', [inboundId]);
  engine.move(inboundId, id, 1, 1);
  await poll();
  await poll();
  await set({ metricsDetail: 'clients' });
  const { series, types } = await scrape();
  const labelsOf = (name: string) =>
    new Set([
      'instance',
      'job',
      ...series.filter((one) => one.name === name).flatMap(({ labels }) => Object.keys(labels)),
    ]);
  const dashboard = JSON.parse(
    await readFile(new URL('docs/grafana/weir.json', await sourceRoot()), 'utf8'),
  ) as {
    templating: { list: { query: string | { query: string } }[] };
    panels: { title: string; targets: { expr: string; legendFormat: string }[] }[];
  };
  const queries = dashboard.panels.flatMap(({ title, targets }) =>
    targets.map((target) => ({ title, ...target })),
  );
  t.true(queries.length > 20);
  for (const { title, expr, legendFormat } of queries) {
    const used = usedIn(expr);
    t.true(used.length > 0, `${title}: ${expr}`);
    for (const { name, labels } of used) {
      t.true(types.has(name), `${title} asks for ${name}, which does not exist`);
      for (const label of labels)
        t.true(labelsOf(name).has(label), `${title}: ${name} has no label ${label}`);
      // A rate of a level, and a level of a counter, are nonsense.
      if (types.get(name) === 'counter')
        t.regex(expr, new RegExp(`(?:rate|increase)\\(${name}\\b`), `${title}: ${name} is a counter`);
      else t.notRegex(expr, new RegExp(`(?:rate|increase)\\(${name}\\b`), `${title}: ${name} is a gauge`);
    }
    for (const [, label = ''] of legendFormat.matchAll(/\{\{([a-z_]+)\}\}/g))
      t.true(
        used.some(({ name }) => labelsOf(name).has(label)),
        `${title} shows the label ${label}`,
      );
    for (const [, by = ''] of expr.matchAll(/\bby \(([a-z_, ]+)\)/g))
      for (const label of by.split(/,\s*/))
        t.true(
          used.some(({ name }) => labelsOf(name).has(label)),
          `${title} sums by ${label}`,
        );
  }
  for (const { query } of dashboard.templating.list)
    for (const { name } of usedIn(typeof query === 'string' ? query : query.query))
      t.true(types.has(name), name);
});

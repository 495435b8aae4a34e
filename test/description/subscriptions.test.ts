// Every endpoint of the sections about balancers and the subscription server.
import test from 'ava';
import { FakeEngine } from '../harness/fake-engine.js';
import { TestPanel } from '../harness/panel.js';
import { Asking } from './asking.js';
import { compare } from './shape.js';
import { BALANCERS, HWID_STATUS, SUBSCRIPTION_SERVER } from './subscriptions.js';

interface Balancer {
  readonly id: number;
  readonly createdAt: number;
}

test('balancers: the section of the API description', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const [first, second] = [await panel.addInbound(), await panel.addInbound()];
  const asking = new Asking(panel, BALANCERS);
  const at = '/panel/api/sub-balancers';

  const made = await asking.ask<Balancer>(t, `POST ${at}`, {
    form: [
      ['remark', 'both'],
      ['inboundIds', String(first)],
      ['inboundIds', String(second)],
    ],
  });
  t.like(made, { remark: 'both', strategy: 'random', sortOrder: 1, enabled: true, memberWeights: {} });
  t.like(made, { inboundIds: [first, second] });
  const form = [
    ['remark', 'weighed'],
    ['strategy', 'leastLoad'],
    ['inboundIds', String(first)],
    ['memberWeights', JSON.stringify({ [first]: 0.5, [second]: 2 })],
    ['sortOrder', '3'],
    ['enabled', 'false'],
  ] as const;
  const weighed = await asking.ask<Balancer>(t, `POST ${at}`, { form });
  const list = () => asking.ask<Balancer[]>(t, `GET ${at}`);
  t.deepEqual(await list(), [made, weighed]);
  // A weight of an inbound that is not selected is dropped.
  const shown = { remark: 'weighed', strategy: 'leastLoad', inboundIds: [first], sortOrder: 3 };
  t.like(weighed, { ...shown, memberWeights: { [first]: 0.5 }, enabled: false });
  const updated = await asking.ask<Balancer>(t, `POST ${at}/{id}`, { at: [made.id], form });
  t.like(updated, { ...shown, id: made.id, enabled: false, createdAt: made.createdAt });
  const withoutEnabled = form.filter(([key]) => key !== 'enabled');
  t.like(await asking.ask(t, `POST ${at}/{id}`, { at: [made.id], form: withoutEnabled }), { enabled: false });

  for (const [change, field] of [
    [{ remark: '' }, 'remark'],
    [{ inboundIds: [] }, 'inboundIds'],
    [{ strategy: 'slowest' }, 'strategy'],
    [{ strategy: 'random', memberWeights: { [first]: 2 } }, 'memberWeights'],
    [{ strategy: 'leastLoad', memberWeights: { [first]: 0 } }, 'memberWeights'],
  ] as const) {
    const body = { remark: 'x', inboundIds: [first], ...change };
    const { status, body: answer } = await panel.call<{ issues: { path: string }[] }>(at, { body });
    t.is(status, 400, field);
    t.true(
      answer.obj.issues.some(({ path }) => path.startsWith(field)),
      field,
    );
  }
  t.like(await asking.ask(t, `POST ${at}/{id}/del`, { at: [weighed.id] }), { id: weighed.id });
  t.is((await list()).length, 1);
  t.like(await asking.ask(t, `DELETE ${at}/{id}`, { at: [made.id] }), { id: made.id });
  t.deepEqual(await panel.get(at), []);
  asking.end(t);
});

test('subscription server: the section of the API description', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const settings = () => panel.get<Record<string, string>>('/panel/api/setting/all', { method: 'POST' });
  const fresh = await settings();
  const names = ['subPath', 'jsonPath', 'altFormatPath'];
  const paths = names.map((name) => fresh[name] ?? '');
  t.is(new Set(paths).size, 3, 'prefixes are random');
  for (const path of paths) t.regex(path, /^\/\w{12,}\/$/);
  const defaults = '/panel/api/setting/factoryDefaults';
  t.like(await panel.get(defaults, { method: 'POST' }), { subPort: '2096' });
  await panel.get('/panel/api/setting/update', {
    body: { subPath: '/s/', jsonPath: '/j/', altFormatPath: '/a/', subJsonEnable: true, subAltEnable: true },
  });
  const expiryTime = Date.now() + 86_400_000;
  await panel.addClient('ann', [await panel.addInbound()], {
    ...{ subId: 'sub-ann', totalGB: 5000, limitHwid: 2, expiryTime },
  });
  await panel.get('/panel/api/clients/updateTraffic/ann', { body: { upload: 100, download: 200 } });

  const fetched = new Set<string>();
  const ask = async (name: string, path: string, more = {}) => {
    for (const method of ['HEAD', 'GET']) {
      fetched.add(`${method} ${name}`);
      const answer = await fetch(panel.subscriptionUrl + path, {
        method,
        headers: { 'x-hwid': 'phone-1', ...more },
      });
      t.is(answer.status, 200, `${method} ${path}`);
      const text = await answer.text();
      if (method === 'HEAD') t.is(text, '', path);
      t.regex(answer.headers.get('cache-control') ?? '', /no-store|no-cache/, path);
      t.is(
        answer.headers.get('subscription-userinfo'),
        `upload=100; download=200; total=5000; expire=${Math.floor(expiryTime / 1000)}`,
        `${method} ${path}`,
      );
      if (method === 'GET') return text;
    }
    throw new Error('unreachable');
  };
  t.regex(Buffer.from(await ask('subPath', '/s/sub-ann'), 'base64').toString(), /^vless:\/\//);
  const info = JSON.parse(await ask('subPath', '/s/sub-ann?format=info')) as object;
  t.true(Object.keys(info).length > 3, 'the view of the status');
  const hwid = JSON.parse(await ask('subPath …/hwid-status', '/s/sub-ann/hwid-status')) as unknown;
  t.deepEqual(compare(HWID_STATUS, hwid, 'hwid-status').differences, []);
  t.deepEqual(hwid, { active: true, full: false, limit: 2, registered: 1, remaining: 1 });
  t.true(JSON.stringify(JSON.parse(await ask('jsonPath', '/j/sub-ann'))).includes('"outbounds"'));
  t.regex(await ask('altFormatPath', '/a/sub-ann'), /^proxies:/m);
  const page = await fetch(`${panel.subscriptionUrl}/s/sub-ann`, { headers: { accept: 'text/html' } });
  t.regex(page.headers.get('content-type') ?? '', /^text\/html/);
  t.regex(page.headers.get('subscription-userinfo') ?? '', /^upload=100; download=200; /, 'the page too');
  t.deepEqual([...fetched].sort(), [...SUBSCRIPTION_SERVER].sort());
});

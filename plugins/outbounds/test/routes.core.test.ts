// Routes and balancers of a real core; overrides over a changed balancer, a restart and kill -9 of the panel.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openPanel, spawnPanel } from '../../../test/engine/user.js';
import type { LoggedPanel } from '../../../test/harness/logged-panel.js';
import type { ShownBalancer } from '../balancers.js';
import { API, configure, type Template } from './world.js';

const URL = 'http://127.0.0.1:9/';
const pool = (template: Template, selector: readonly string[] = ['pool-']): object => ({
  ...template,
  outbounds: [
    ...template.outbounds.filter(({ tag }) => !String(tag).startsWith('pool-')),
    ...['pool-a', 'pool-b', 'pool-c'].map((tag) => ({ tag, protocol: 'freedom' })),
  ],
  routing: {
    ...template.routing,
    balancers: [{ tag: 'pool', selector, strategy: { type: 'random' } }],
    rules: [
      { type: 'field', domain: ['full:pooled.example'], balancerTag: 'pool' },
      { type: 'field', domain: ['full:blocked.example'], outboundTag: 'blocked' },
      { type: 'field', network: 'udp', port: '53', outboundTag: 'pool-a' },
      { type: 'field', ip: ['203.0.113.0/24', '2001:db8:1::/48'], outboundTag: 'pool-b' },
      { type: 'field', inboundTag: ['special'], outboundTag: 'pool-c' },
    ],
  },
});
const status = async (panel: LoggedPanel, tags = 'pool') =>
  panel.get<Record<string, ShownBalancer>>(`${API}/balancerStatus`, { body: { tags } });
const override = (panel: LoggedPanel, tag: string, target: string) =>
  panel.call(`${API}/balancerOverride`, { body: { tag, target } });
const inForce = (panel: LoggedPanel, target: string): Promise<void> =>
  panel.until(async () => (await status(panel))['pool']?.override === target, `override ${target}`);

test('routes are what the core says', async (t) => {
  const panel = await openPanel(t);
  await configure(panel, URL, pool);
  const routeOf = (body: object) =>
    panel.get<{ matched: boolean; outboundTag: string }>(`${API}/routeTest`, { body });
  t.like(await routeOf({ domain: 'blocked.example', port: 443 }), { matched: true, outboundTag: 'blocked' });
  t.like(await routeOf({ domain: 'Blocked.Example' }), { outboundTag: 'blocked' });
  t.like(await routeOf({ ip: '203.0.113.7' }), { outboundTag: 'pool-b' });
  t.like(await routeOf({ ip: '2001:DB8:1::7' }), { outboundTag: 'pool-b' });
  t.like(await routeOf({ ip: '2001:db8::1', inboundTag: 'special' }), { outboundTag: 'pool-c' });
  t.like(await routeOf({ ip: '198.51.100.1', port: '53', network: 'udp' }), { outboundTag: 'pool-a' });
  t.like(await routeOf({ ip: '198.51.100.1', port: 53 }), { matched: true, outboundTag: 'direct' });
  t.regex((await routeOf({ domain: 'pooled.example' })).outboundTag, /^pool-[abc]$/);
  await panel.get('/panel/api/server/stopEngineService', { method: 'POST' });
  t.is((await panel.call(`${API}/routeTest`, { body: { ip: '203.0.113.7' } })).status, 503);
  t.deepEqual(await status(panel), {
    pool: { tag: 'pool', running: false, override: '', selected: null },
  });
});

test('an override is in force after a change of its balancer, a restart, and without its outbound', async (t) => {
  const panel = await openPanel(t);
  await configure(panel, URL, pool);
  const before = (await status(panel, 'pool, ghost'))['pool'];
  t.like(before, { running: true, override: '' });
  t.true((before?.selected ?? []).length > 0);
  t.like(await status(panel, 'ghost'), { ghost: { running: false, selected: null } });

  t.is((await override(panel, 'pool', 'ghost')).body.code, 'OUTBOUNDS_NO_OUTBOUND');
  t.is((await override(panel, 'ghost', 'pool-a')).body.code, 'OUTBOUNDS_NO_BALANCER');
  t.true((await override(panel, 'pool', 'pool-b')).body.success);
  t.is((await status(panel))['pool']?.override, 'pool-b');
  const routed = () =>
    panel.get<{ outboundTag: string }>(`${API}/routeTest`, { body: { domain: 'pooled.example' } });
  t.is((await routed()).outboundTag, 'pool-b');

  // The core has another balancer then, without the override.
  await configure(panel, URL, (template) => pool(template, ['pool-a', 'pool-b']));
  t.is((await status(panel))['pool']?.override, 'pool-b', 'at once');
  await panel.get('/panel/api/server/restartEngineService', { method: 'POST' });
  t.is((await status(panel))['pool']?.override, 'pool-b', 'at once');
  t.is((await routed()).outboundTag, 'pool-b');

  await configure(panel, URL, (template) => ({
    ...(pool(template, ['pool-a']) as Template),
    outbounds: [...template.outbounds.filter(({ tag }) => tag !== 'pool-b')],
    routing: { ...(pool(template, ['pool-a']) as Template).routing, rules: [] },
  }));
  await panel.get('/panel/api/server/restartEngineService', { method: 'POST' });
  await panel.until(
    () => panel.log.some(({ msg }) => msg === 'the override of a balancer is not in force'),
    'the log says so',
  );
  await panel.call('/panel/api/system/jobs/outbounds/overrides', { method: 'POST' });
  t.is((await status(panel))['pool']?.override, '', 'it would lead to an outbound that is not there');
  await configure(panel, URL, pool);
  await inForce(panel, 'pool-b');

  t.true((await override(panel, 'pool', '')).body.success);
  await inForce(panel, '');
  await panel.get('/panel/api/server/restartEngineService', { method: 'POST' });
  t.is((await status(panel))['pool']?.override, '');
});

test('an override that has ended does not come back with an earlier form of its balancer', async (t) => {
  const panel = await openPanel(t);
  await configure(panel, URL, pool);
  t.true((await override(panel, 'pool', 'pool-b')).body.success);
  // The core keeps the balancer that is replaced, with its override.
  await configure(panel, URL, (template) => pool(template, ['pool-a', 'pool-b']));
  await inForce(panel, 'pool-b');
  t.true((await override(panel, 'pool', '')).body.success);
  t.is((await status(panel))['pool']?.override, '');
  await configure(panel, URL, pool);
  await inForce(panel, '');
  await configure(panel, URL, (template) => ({
    ...template,
    routing: { ...template.routing, rules: [], balancers: [] },
  }));
  t.is((await override(panel, 'pool', '')).body.code, 'OUTBOUNDS_NO_BALANCER', 'nothing is stored of it');
});

test('a target that is a balancer means the outbound that leads back to its rule', async (t) => {
  const panel = await openPanel(t);
  await configure(panel, URL, (template) => {
    const changed = pool(template) as Template;
    const back = { tag: '_bl_other', protocol: 'loopback', settings: { inboundTag: 'back' } };
    return { ...changed, outbounds: [...changed.outbounds, back] };
  });
  t.regex((await override(panel, 'pool', 'other')).body.msg, /uses the outbound _bl_other$/);
  await inForce(panel, '_bl_other');
});

test('an override survives kill -9 of the panel and of the core', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  let panel = await spawnPanel(t, { dataDirectory });
  await configure(panel, URL, pool);
  t.true((await override(panel, 'pool', 'pool-c')).body.success);
  const core = await panel.corePid();
  await panel.kill('SIGKILL');
  process.kill(core ?? 0, 'SIGKILL');
  panel = await spawnPanel(t, { dataDirectory });
  await inForce(panel, 'pool-c');
});

// One admin, by the API alone: a tunnel for a domain, registered, tested, counted and taken away; then a list of outbounds with a
// balancer over it, whose override survives kill -9 of panel and core.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { ownIPv4 } from '../../plugins/engine/xray/test/traffic.js';
import { openExit } from '../../plugins/outbound-subs/test/exit.js';
import { openLists } from '../../plugins/outbound-subs/test/list-server.js';
import type { LoggedPanel } from '../harness/logged-panel.js';
import { openTunnelService } from './tunnel-service.js';
import { connect, engineOf, MIB, openServer, poll, spawnPanel } from './user.js';
import { type FarEnd, openFarEnd } from './wireguard-far-end.js';

type Entry = Readonly<Record<string, unknown>>;
interface Template {
  readonly outbounds: readonly Entry[];
  readonly routing: { readonly rules: readonly Entry[] };
}
interface Traffic {
  readonly tag: string;
  readonly up: number;
  readonly down: number;
}
const ENGINE = '/panel/api/engine';
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const DOMAIN = 'site.example';

/** What an admin does, as calls. */
function admin(panel: LoggedPanel) {
  const post = <T>(path: string, body?: object) =>
    panel.call<T>(`/panel/api/${path}`, { method: 'POST', ...(body && { body }) });
  const save = async (change: (template: Template) => object) => {
    const { engineSetting } = (await post<{ engineSetting: string }>('engine/')).body.obj;
    return post('engine/update', { engineSetting: change(JSON.parse(engineSetting) as Template) });
  };
  const rules = (...list: readonly Entry[]) =>
    save(({ routing, ...rest }) => ({ ...rest, routing: { ...routing, rules: list } }));
  const traffic = async (tag: string): Promise<Traffic | undefined> => {
    await poll(panel);
    return (await panel.get<Traffic[]>(`${ENGINE}/getOutboundsTraffic`)).find((row) => row.tag === tag);
  };
  const counted = (tag: string, bytes: number) =>
    panel.until(async () => ((await traffic(tag))?.down ?? 0) >= bytes, `the traffic of ${tag} is seen`);
  const routeOf = async (body: object) =>
    (await post<{ matched: boolean; outboundTag: string; isOwn: boolean }>('engine/routeTest', body)).body
      .obj;
  const balancer = async () =>
    (await post<Record<string, Entry>>('engine/balancerStatus', { tags: 'pool' })).body.obj['pool'];
  const set = (settings: object) => panel.get('/panel/api/setting/update', { body: settings });
  return { post, save, rules, traffic, counted, routeOf, balancer, set };
}

test('a WARP outbound: registered, routed to, tested, counted, taken away', async (t) => {
  const service = await openTunnelService(t);
  let farEnd: FarEnd | undefined;
  service.api.instead.set('POST /reg', async ({ key }) => {
    farEnd = await openFarEnd(t, {
      peer: String(key),
      addresses: ['172.16.0.2/32', '2606:4700:110:8a36::2/128'],
    });
    service.api.farEnd = { publicKey: farEnd.publicKey, endpoint: farEnd.endpoint, v4: '172.16.0.2' };
    return undefined;
  });
  const panel = await spawnPanel(t, { env: service.env });
  const { post, save, rules, traffic, counted, routeOf, set } = admin(panel);
  // Loopback cannot be reached through WireGuard.
  const server = await openServer(t, { host: ownIPv4() });
  await panel.addClient('ann', [await panel.addInbound()]);
  const ann = await connect(t, panel, 'ann', { ...server, host: DOMAIN });
  const through = () => farEnd?.connections(server.port) ?? 0;
  await save((template) => ({ ...template, dns: { hosts: { [DOMAIN]: server.host } } }));

  t.like((await post('engine/edgetunnel/data')).body, { success: true, obj: '', msg: 'there is no device' });
  t.like(await post('x/edgetunnel/apply'), { status: 409, body: { code: 'EDGETUNNEL_NO_DEVICE' } });
  const registered = await post<string>('engine/edgetunnel/reg');
  t.like(registered.body, { success: true, msg: 'the device is registered' });
  t.like(JSON.parse(registered.body.obj), { data: { device_id: 'device-1' } });
  const flags = (await post<Entry>('setting/all')).body.obj;
  t.like(flags, { edgetunnelSecret: '', hasEdgetunnelSecret: true });
  const applied = await post('x/edgetunnel/apply');
  t.like(applied.body, {
    msg: 'the template is saved and in force',
    obj: { tag: 'warp', replaced: false, endpoint: farEnd?.endpoint },
  });
  const core = await panel.corePid();

  t.is((await routeOf({ domain: DOMAIN, port: 80 })).outboundTag, 'direct', 'nothing is led there yet');
  const wrong = await rules({ domain: [`full:${DOMAIN}`], outboundTag: 'wrap' });
  t.is(wrong.status, 422);
  t.regex(wrong.body.msg, /no outbound has the tag "wrap"; there are direct, blocked, warp/);
  t.is((await rules({ domain: [`full:${DOMAIN}`], outboundTag: 'warp' })).status, 200);
  t.deepEqual(await routeOf({ domain: DOMAIN, port: 80 }), {
    matched: true,
    outboundTag: 'warp',
    isOwn: false,
    groupTags: [],
  } as never);

  await set({ outboundTestUrl: `http://${server.host}:${server.port}/?bytes=1`, outboundTestEgress: false });
  const tested = (await post<Entry>('engine/testOutbound', { outbound: 'warp' })).body.obj;
  t.like(tested, { tag: 'warp', success: true, httpStatus: 200, mode: 'http' }, JSON.stringify(tested));
  t.is(through(), 1);

  t.is(await ann.download(4 * MIB), 4 * MIB);
  t.is(through(), 2, 'the user left through the tunnel');
  await counted('warp', 4 * MIB);
  t.log(`${(await traffic('warp'))?.down} bytes counted for ${4 * MIB}`);

  const using = await save(({ outbounds, ...rest }) => ({
    ...rest,
    outbounds: outbounds.filter(({ tag }) => tag !== 'warp'),
  }));
  t.regex(
    using.body.msg,
    /^nothing was saved: engineSetting\.routing\.rules\.0: outboundTag: no outbound has the tag "warp"/,
  );
  const gone = await save(({ outbounds, routing, ...rest }) => ({
    ...rest,
    outbounds: outbounds.filter(({ tag }) => tag !== 'warp'),
    routing: { ...routing, rules: [] },
  }));
  t.is(gone.status, 200, gone.text);
  t.like((await post('engine/edgetunnel/del')).body, {
    success: true,
    msg: 'the device is removed',
    obj: '',
  });
  await panel.until(() => service.api.devices.size === 0, 'the service has forgotten the device');
  const direct = await connect(t, panel, 'ann', server);
  t.is(await direct.download(MIB), MIB);
  t.is(through(), 2, 'the user leaves directly');
  t.deepEqual((await post('x/outbound-traffic/prune')).body.obj, ['warp']);
  t.is(await traffic('warp'), undefined);
  t.is(await panel.corePid(), core, 'the core ran all the while');
});

test('a list of outbounds: subscribed to, balanced over, overridden; kill -9 of panel and core; taken away', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  const first = await spawnPanel(t, { dataDirectory });
  const server = await openServer(t);
  const exits = [await openExit(t), await openExit(t)] as const;
  const [one, two] = exits;
  const lists = await openLists(
    t,
    `${one.link}#One\n${two.link}#Two\n${one.link.replace(/:\d+$/, ':9')}#Dead\nss://x#Bad`,
  );
  await first.addClient('ann', [await first.addInbound()]);
  const ann = await connect(t, first, 'ann', server);
  const seen = () => exits.map((exit) => exit.connections());
  const { post, save, balancer, set, counted } = admin(first);

  const refused = await post('engine/outbound-subs/parse', { url: lists.url });
  t.regex(refused.body.msg, /127\.0\.0\.1:\d+ is an address of this machine; .*, or set allowPrivate/);
  const looked = await post<Entry[]>('engine/outbound-subs/parse', { url: lists.url, allowPrivate: true });
  t.deepEqual(
    looked.body.obj.map(({ tag }) => tag),
    ['sub1-One', 'sub1-Two', 'sub1-Dead'],
  );
  t.regex(looked.body.msg, /^1 entry is left out because: /);
  const body = { url: lists.url, allowPrivate: true, remark: 'exits' };
  const created = (await post<{ id: number }>('engine/outbound-subs', body)).body;
  t.is(created.msg, 'subscription added');
  const refreshed = await post(`engine/outbound-subs/${created.obj.id}/refresh`);
  t.regex(refreshed.body.msg, /^3 outbounds are in force; 1 entry is left out because: /);
  t.like((await first.get<Entry[]>(`${ENGINE}/outbound-subs`))[0], {
    outboundTags: ['sub1-One', 'sub1-Two', 'sub1-Dead'],
    leftOut: { 0: { name: 'Bad' } },
  });
  const { subscriptionOutboundTags } = (await post<Record<string, string>>('engine/')).body.obj;
  t.deepEqual(JSON.parse(subscriptionOutboundTags ?? ''), ['sub1-One', 'sub1-Two', 'sub1-Dead']);

  await set({
    outboundTestUrl: `http://127.0.0.1:${server.port}/?bytes=1`,
    outboundTestEgress: false,
    outboundTestMinutes: 1,
    outboundDownThreshold: 1,
  });
  const outbounds = ['sub1-One', 'sub1-Dead'];
  const results = (await post<Entry[]>('engine/testOutbounds', { outbounds, mode: 'real' })).body.obj;
  t.deepEqual(
    results.map(({ success }) => success),
    [true, false],
  );
  t.regex(String(results[1]?.['error']), /refused/);
  await post('system/jobs/outbounds/watch');
  const health = await first.get<Entry[]>('/panel/api/x/outbounds/health');
  t.deepEqual(
    health.map(({ tag, up }) => [tag, up]),
    [
      ['sub1-One', true],
      ['sub1-Two', true],
      ['sub1-Dead', false],
    ],
  );
  await set({ outboundTestMinutes: 0 });

  const pooled = { port: String(server.port), balancerTag: 'pool' };
  const saved = await save(({ routing, ...rest }) => ({
    ...rest,
    routing: {
      ...routing,
      balancers: [{ tag: 'pool', selector: ['sub1-One', 'sub1-Two'] }],
      rules: [pooled],
    },
  }));
  t.is(saved.status, 200, saved.text);
  t.like(await balancer(), { running: true, override: '', selected: ['sub1-One', 'sub1-Two'] });
  const before = seen();
  t.is(await ann.download(MIB), MIB);
  t.is(sum(seen()), sum(before) + 1, 'it left by one of them');

  t.is((await post('engine/balancerOverride', { tag: 'pool', target: 'sub1-Tow' })).status, 404);
  const overridden = await post('engine/balancerOverride', { tag: 'pool', target: 'sub1-Two' });
  t.is(overridden.body.msg, 'the balancer pool uses the outbound sub1-Two');
  const [unused] = seen();
  for (let round = 0; round < 4; round++) t.is(await ann.download(MIB), MIB);
  t.is(seen()[0], unused, 'none leaves by the other one');
  await counted('sub1-Two', 4 * MIB);

  const core = await first.corePid();
  await first.kill('SIGKILL');
  process.kill(core ?? 0, 'SIGKILL');
  const second = await spawnPanel(t, { dataDirectory });
  const after = admin(second);
  t.not(await second.corePid(), core);
  t.like(await after.balancer(), { override: 'sub1-Two', selected: ['sub1-One', 'sub1-Two'] });
  t.is(await ann.download(MIB), MIB);
  await after.post('server/restartEngineService');
  t.is(await ann.download(MIB), MIB);
  t.is(seen()[0], unused, 'the override has survived both');
  t.is((await after.routeOf({ ip: '127.0.0.1', port: server.port })).outboundTag, 'sub1-Two');
  await after.counted('sub1-Two', 6 * MIB);

  t.is(
    (await after.post('engine/balancerOverride', { tag: 'pool', target: '' })).body.msg,
    'the balancer pool chooses by itself',
  );
  t.like(await after.balancer(), { override: '' });
  t.is(
    (await after.post(`engine/outbound-subs/${created.obj.id}/del`)).body.msg,
    'the subscription is deleted',
  );
  t.like(await after.routeOf({ ip: '127.0.0.1', port: server.port }), {
    outboundTag: 'weir.blocked',
    isOwn: true,
  });
  t.false(await ann.served(), 'without its outbounds the balancer blocks; nothing leaks');
  t.is((await after.rules()).status, 200);
  const left = seen();
  t.is(await ann.download(MIB), MIB);
  t.deepEqual(seen(), left, 'it leaves directly');
  t.is((await engineOf(second)).state, 'running');
});

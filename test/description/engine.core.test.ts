// Every endpoint of the section about the core's settings, on a real core.
import test from 'ava';
import { farEnd, openTarget } from '../../plugins/outbounds/test/world.js';
import { connect, openPanel, openServer } from '../engine/user.js';
import { Asking } from './asking.js';
import { ENGINE } from './engine.js';

interface Settings {
  readonly engineSetting: string;
  readonly inboundTags: string;
  readonly clientReverseTags: string;
  readonly outboundTestUrl: string;
}
interface Used {
  readonly tag: string;
  readonly up: number;
  readonly down: number;
}
interface Template {
  readonly outbounds: readonly { readonly tag: string }[];
  readonly routing: { readonly rules: readonly object[] };
}
type Balancers = Readonly<Record<string, { readonly override: string }>>;

test('settings of the core: the section of the API description', async (t) => {
  const panel = await openPanel(t);
  const server = await openServer(t);
  const target = await openTarget(t);
  const asking = new Asking(panel, ENGINE);
  const at = '/panel/api/engine';
  const ask = <Obj = unknown>(path: string, body?: object) =>
    asking.ask<Obj>(t, `POST ${at}/${path}`, body ? { body } : {});
  const inboundId = await panel.addInbound();
  await panel.addClient('ann', [inboundId]);
  await panel.addClient('ben', [inboundId], { reverse: { tag: 'back' } });

  const before = await ask<Settings>('');
  const { tag } = await panel.get<{ tag: string }>(`/panel/api/inbounds/get/${inboundId}`);
  t.true((JSON.parse(before.inboundTags) as string[]).includes(tag));
  t.deepEqual(JSON.parse(before.clientReverseTags), ['back']);
  const template = JSON.parse(before.engineSetting) as Template;
  const defaults = await asking.ask<Template>(t, `GET ${at}/getDefaultJsonConfig`);
  t.true(defaults.outbounds.length > 0);

  const extended = {
    ...template,
    outbounds: [
      ...template.outbounds,
      ...['pool-a', 'pool-b'].map((name) => ({ tag: name, protocol: 'freedom' })),
    ],
    routing: {
      ...template.routing,
      balancers: [{ tag: 'pool', selector: ['pool-'], strategy: { type: 'random' } }],
      rules: [
        ...template.routing.rules,
        { type: 'field', domain: ['full:pooled.example'], balancerTag: 'pool' },
        { type: 'field', domain: ['full:blocked.example'], outboundTag: 'blocked' },
        { type: 'field', ip: ['203.0.113.7'], port: '53', network: 'udp', outboundTag: 'pool-b' },
      ],
    },
  };
  await ask('update', { engineSetting: JSON.stringify(extended), outboundTestUrl: target.url });
  const after = await ask<Settings>('');
  t.deepEqual(JSON.parse(after.engineSetting), extended as unknown);
  t.is(after.outboundTestUrl, target.url);

  await (await connect(t, panel, 'ann', server)).download(100_000);
  const used = () => panel.get<Used[]>(`${at}/getOutboundsTraffic`);
  await panel.until(
    async () => (await used()).some((one) => one.tag === 'direct' && one.down >= 100_000),
    'the bytes of the outbound are counted',
  );
  await asking.ask(t, `GET ${at}/getOutboundsTraffic`);
  await ask('resetOutboundsTraffic', { tag: 'direct' });
  t.like(
    (await used()).find((one) => one.tag === 'direct'),
    { up: 0, down: 0 },
  );
  t.is(typeof (await asking.ask(t, `GET ${at}/getEngineResult`)), 'string');

  const outbound = { ...(await farEnd(panel)), tag: 'far' };
  const about = { allOutbounds: JSON.stringify([...extended.outbounds, outbound]), mode: 'http' };
  t.like(await ask('testOutbound', { outbound: JSON.stringify(outbound), ...about }), { success: true });
  t.like(await ask('testOutbounds', { outbounds: JSON.stringify([outbound]), ...about }), [
    { success: true },
  ]);

  const status = async () => (await ask<Balancers>('balancerStatus', { tags: 'pool' }))['pool'];
  t.is((await status())?.override, '');
  await ask('balancerOverride', { tag: 'pool', target: 'pool-b' });
  t.is((await status())?.override, 'pool-b');
  await ask('balancerOverride', { tag: 'pool', target: '' });
  t.is((await status())?.override, '');
  t.like(await ask('routeTest', { domain: 'blocked.example', port: 443, network: 'tcp' }), {
    outboundTag: 'blocked',
  });
  t.like(await ask('routeTest', { ip: '203.0.113.7', port: 53, network: 'udp' }), { outboundTag: 'pool-b' });
  asking.end(t);
});

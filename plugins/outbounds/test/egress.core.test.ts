// Under which address servers see an outbound, through a real core: servers on both kinds of loopback in place of Cloudflare.
import { createServer } from 'node:http';
import test from 'ava';
import { TRACES } from '../egress.js';
import type { Tested } from '../tester.js';
import { listen } from './core-stand-in.js';
import { API, dead, openWorld, tagged } from './world.js';

test('mode http says how servers see the outbound; other modes, failures and the setting do not ask', async (t) => {
  const { panel, works, test: run } = await openWorld(t);
  let count = 0;
  const server = () =>
    createServer(({ socket }, reply) => {
      count += 1;
      reply.end(`fl=1\nip=${socket.remoteAddress}\nloc=DE\nwarp=off\n`);
    });
  // What the URLs of the plugin are here, they are for all of this process.
  const real = { ipv4: TRACES.ipv4.href, ipv6: TRACES.ipv6.href };
  t.teardown(() => {
    for (const kind of ['ipv4', 'ipv6'] as const) TRACES[kind].href = real[kind];
  });
  TRACES.ipv4.href = `http://127.0.0.1:${await listen(t, server())}/trace`;
  TRACES.ipv6.href = `http://[::1]:${await listen(t, server(), '::1')}/trace`;
  const ask = (outboundTestEgress: boolean) =>
    panel.get('/panel/api/setting/update', { body: { outboundTestEgress } });
  await ask(true);
  const [seen, failed] = await run([tagged(works, 'works'), dead('dead')]);
  t.deepEqual(seen?.egress, { ipv4: '127.0.0.1', ipv6: '::1', country: 'DE', warp: 'off' });
  t.true(seen?.success);
  t.false('egress' in (failed ?? {}));
  t.is(count, 2);
  for (const mode of ['real', 'tcp']) {
    const [result] = await run([tagged(works, 'works')], { mode });
    t.like(result, { success: true, mode });
    t.false('egress' in (result ?? {}));
  }
  await ask(false);
  const outbound = tagged(works, 'works');
  const one = await panel.get<Tested>(`${API}/testOutbound`, { body: { outbound } });
  t.like(one, { success: true, mode: 'http' });
  t.is(count, 2);
});

test('an outbound of the config is tested by its tag', async (t) => {
  const { panel, works, test: run } = await openWorld(t);
  const { engineSetting } = await panel.get<{ engineSetting: string }>(`${API}/`, { method: 'POST' });
  const template = JSON.parse(engineSetting) as { outbounds: object[] };
  await panel.get(`${API}/update`, {
    body: { engineSetting: { ...template, outbounds: [...template.outbounds, tagged(works, 'office')] } },
  });
  const one = await panel.get<Tested>(`${API}/testOutbound`, { body: { outbound: 'office', mode: 'real' } });
  t.like(one, { tag: 'office', success: true });
  const mixed = await run(['office', tagged(works, 'other'), 'direct'], { mode: 'real' });
  t.deepEqual(
    mixed.map(({ tag, success }) => [tag, success]),
    [
      ['office', true],
      ['other', true],
      ['direct', false],
    ],
  );
  const wrong = await panel.call(`${API}/testOutbound`, { body: { outbound: 'offce' } });
  t.is(wrong.status, 400);
  t.regex(
    wrong.body.msg,
    /no outbound of the config has the tag "offce"; there are direct, blocked, office\. /,
  );
});

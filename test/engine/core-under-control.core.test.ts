// One admin, by the API alone, while a user downloads: an outbound and a rule for a domain are planned, applied, seen in
// the traffic and taken back; then another version of the core comes and goes.
import test from 'ava';
import { install, openWith } from '../../plugins/engine-versions/test/installed-panel.js';
import { coreThatSays, ReleaseServer } from '../../plugins/engine-versions/test/release-server.js';
import { connect, engineBinary, engineOf, MIB, openServer, poll } from './user.js';

interface Template {
  readonly outbounds: readonly object[];
  readonly routing: object;
}
interface OutboundTraffic {
  readonly tag: string;
  readonly down: number;
}

test('an outbound, a rule, their traffic, the way back, and another core', async (t) => {
  const releases = await ReleaseServer.open(t);
  releases.add('26.4.1', coreThatSays('26.4.1', engineBinary()));
  const panel = await openWith(t, releases);
  const server = await openServer(t);
  await panel.addClient('a', [await panel.addInbound()]);
  await panel.addClient('b', [await panel.addInbound({ protocol: 'trojan' })]);
  const a = await connect(t, panel, 'a', server);
  const b = await connect(t, panel, 'b', { ...server, host: 'localhost' });
  const core = await panel.corePid();
  const transfer = a.start(8 * MIB, MIB);
  await panel.until(() => transfer.soFar > 0, 'the transfer has begun');
  const downOf = async (tag: string): Promise<number> => {
    await poll(panel);
    const rows = await panel.get<OutboundTraffic[]>('/panel/api/engine/getOutboundsTraffic');
    return rows.find((row) => row.tag === tag)?.down ?? 0;
  };

  const { engineSetting } = await panel.get<{ engineSetting: string }>('/panel/api/engine/', {
    method: 'POST',
  });
  const first = JSON.parse(engineSetting) as Template;
  const next = {
    ...first,
    outbounds: [...first.outbounds, { tag: 'side', protocol: 'freedom' }],
    routing: {
      ...first.routing,
      rules: [{ type: 'field', domain: ['full:localhost'], outboundTag: 'side' }],
    },
  };
  t.like(await panel.get('/panel/api/engine/plan', { body: { engineSetting: next } }), {
    change: 'hot',
    connections: { end: 'none' },
  });
  await panel.get('/panel/api/engine/update', { body: { engineSetting: next } });
  t.is(await b.download(2 * MIB), 2 * MIB);
  await panel.until(async () => (await downOf('side')) >= 2 * MIB, 'its traffic is seen');

  await panel.get('/panel/api/x/core-template/restore/0', { method: 'POST' });
  const side = await downOf('side');
  t.is(await b.download(MIB), MIB);
  t.is(await downOf('side'), side, 'the way is the previous one');
  t.is(await panel.corePid(), core);
  t.true(transfer.soFar < 8 * MIB, 'the transfer ran all the while');
  t.is(await transfer.ended, 8 * MIB);

  t.is((await install(panel, '26.4.1')).status, 200);
  t.like(await engineOf(panel), { state: 'running', version: '26.4.1' });
  t.true(await a.served());
  t.is((await install(panel, '26.3.27')).status, 200);
  t.like(await engineOf(panel), { state: 'running', version: '26.3.27' });
  t.true(await b.served());
  t.true((await downOf('direct')) >= 8 * MIB, 'no byte of the stopped cores is lost');
});

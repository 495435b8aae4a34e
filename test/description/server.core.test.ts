// Every endpoint of the section about server tools that controls or asks the core, on a real one.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { openWith } from '../../plugins/engine-versions/test/installed-panel.js';
import { coreThatSays, ReleaseServer } from '../../plugins/engine-versions/test/release-server.js';
import { ipFile, siteFile } from '../../plugins/geodata/test/dat.js';
import { SourceServer } from '../../plugins/geodata/test/source-server.js';
import { connect, engineBinary, engineOf, openServer } from '../engine/user.js';
import { Asking } from './asking.js';
import { BUCKETS, ENGINE_METRICS, SERVER_WITH_CORE } from './server.js';

interface Point {
  readonly t: number;
  readonly v: number;
}

test('server tools with a core: the section of the API description', async (t) => {
  const releases = await ReleaseServer.open(t);
  releases.add('26.4.1', coreThatSays('26.4.1', engineBinary()));
  releases.add('26.4.2', coreThatSays('26.4.2', engineBinary()));
  const source = await SourceServer.open(t);
  const probed = createServer((_, reply) => void reply.writeHead(204).end()).listen(0, '127.0.0.1');
  t.teardown(() => probed.close());
  const allowed = [releases.env['WEIR_OUTGOING_ALLOW'], `geodata=${new URL(source.url).host}`];
  const panel = await openWith(t, releases, { WEIR_OUTGOING_ALLOW: allowed.join() });
  const server = await openServer(t);
  const asking = new Asking(panel, SERVER_WITH_CORE);
  const at = '/panel/api/server';
  const get = <Obj = unknown>(path: string, params: (string | number)[] = []) =>
    asking.ask<Obj>(t, `GET ${at}/${path}`, { at: params });
  const post = <Obj = unknown>(path: string, params: (string | number)[] = []) =>
    asking.ask<Obj>(t, `POST ${at}/${path}`, { at: params });

  await panel.addClient('ann', [await panel.addInbound()]);
  await (await connect(t, panel, 'ann', server)).download(1000);
  await panel.until(
    async () => (await panel.get<object[]>(`${at}/enginelogs/10`, { method: 'POST' })).length === 1,
    'the connection is in the log',
  );
  const [entry] = await post<{ Email: string; Event: number }[]>('enginelogs/{count}', [10]);
  t.like(entry, { Email: 'ann', Event: 0 });
  t.true(JSON.stringify(await get('getConfigJson')).includes('"outbounds"'));

  // An observatory in the template of the admin.
  const { engineSetting } = await panel.get<{ engineSetting: string }>('/panel/api/engine/', {
    method: 'POST',
  });
  const observatory = {
    subjectSelector: ['direct'],
    probeUrl: `http://127.0.0.1:${(probed.address() as AddressInfo).port}/`,
    probeInterval: '1s',
  };
  await panel.get('/panel/api/engine/update', {
    body: { engineSetting: JSON.stringify({ ...JSON.parse(engineSetting), observatory }) },
  });
  t.like(await get('engineMetricsState'), { enabled: true });
  const observed = () => panel.get<{ tag: string }[]>(`${at}/engineObservatory`);
  await panel.until(async () => (await observed()).length > 0, 'the outbound was observed');
  t.like(await get('engineObservatory'), [{ tag: 'direct', alive: true }]);
  const alloc = () => panel.get<Point[]>(`${at}/engineMetricsHistory/xrAlloc/2`);
  await panel.until(async () => (await alloc()).length > 0, 'there is a first point');
  for (const bucket of BUCKETS) {
    for (const metric of ENGINE_METRICS)
      await get('engineMetricsHistory/{metric}/{bucket}', [metric, bucket]);
    await get('engineObservatoryHistory/{tag}/{bucket}', ['direct', bucket]);
  }

  source.file('geoip.dat', ipFile({ PRIVATE: ['10.0.0.0/8'] }));
  source.file('geosite.dat', siteFile({ CN: ['domain:cn.example'] }));
  const body = { geodataSources: source.sources('geoip.dat', 'geosite.dat') };
  await panel.get('/panel/api/setting/update', { body });
  const { files } = await post<{ files: { name: string; changed: boolean }[] }>('updateGeofile');
  t.deepEqual(files.map(({ name }) => name).sort(), ['geoip.dat', 'geosite.dat']);
  t.like(await post('updateGeofile/{filename}', ['geoip.dat']), { files: [{ name: 'geoip.dat' }] });

  await post('stopEngineService');
  t.is((await engineOf(panel)).state, 'stop');
  await post('restartEngineService');
  t.is((await engineOf(panel)).state, 'running');
  t.deepEqual(await get('getEngineVersion'), ['v26.4.2', 'v26.4.1']);
  const version = async () =>
    (await panel.get<{ engine: { version: string } }>(`${at}/status`)).engine.version;
  for (const [asked, installed] of [
    ['v26.4.1', '26.4.1'],
    ['latest', '26.4.2'],
  ] as const) {
    await post('installEngine/{version}', [asked]);
    t.is(await version(), installed);
  }
  asking.end(t);
});

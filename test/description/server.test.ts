// Every endpoint of the section about server tools that needs no core; releases and TLS servers are stand-ins on loopback.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { releaseOf } from '../../plugins/updates/test/release-server.js';
import { UpdateWorld } from '../../plugins/updates/test/update-panel.js';
import { authority, tlsServer } from '../../plugins/reality-scanner/test/servers.js';
import { FakeClock } from '../harness/fake-clock.js';
import { FakeEngine } from '../harness/fake-engine.js';
import { Asking } from './asking.js';
import { BUCKETS, METRICS, SERVER } from './server.js';

test('server tools: the section of the API description', async (t) => {
  const { leaf } = authority();
  const certificate = leaf();
  const far = await tlsServer(t, { cert: certificate.cert, key: certificate.key });
  const clock = new FakeClock(Date.now());
  const world = await UpdateWorld.open(t, {
    plugins: [new FakeEngine().plugin],
    clock,
    env: {
      WEIR_OUTGOING_ALLOW: ['updates', 'keygen', 'reality-scanner'].map((name) => `${name}=127.0.0.1`).join(),
    },
  });
  const { panel } = world;
  world.server.publish([releaseOf('0.1.0', Buffer.from('old')), releaseOf('0.2.0', Buffer.from('new'))]);
  const asking = new Asking(panel, SERVER);
  const at = '/panel/api/server';
  const get = <Obj = Record<string, unknown>>(path: string, params: (string | number)[] = []) =>
    asking.ask<Obj>(t, `GET ${at}/${path}`, { at: params });
  const post = <Obj = unknown>(path: string, form: [string, string][] = [], params: number[] = []) =>
    asking.ask<Obj>(t, `POST ${at}/${path}`, { form, at: params });

  const document = await asking.ask<{ paths: object }>(t, 'GET /panel/api/openapi.json');
  t.true(Object.keys(document.paths).length > 150);
  const status = await get<{ engine: { state: string }; loads: number[] }>('status');
  t.is(status.engine.state, 'running');
  t.is(status.loads.length, 3);
  await get('banGuardStatus');
  for (let i = 0; i < 5; i++) {
    clock.tick(2000);
    await panel.kernel.settled();
  }
  for (const bucket of BUCKETS) {
    t.true((await get<object[]>('cpuHistory/{bucket}', [bucket])).length > 0);
    for (const metric of METRICS) await get('history/{metric}/{bucket}', [metric, bucket]);
  }
  for (const path of ['cpuHistory/3', 'history/cpu/7', 'history/disk/2'])
    t.is((await panel.call(`${at}/${path}`)).status, 400, path);

  t.like(await get('getPanelUpdateInfo'), { currentVersion: '0.1.0', latestVersion: '0.2.0' });
  await post('setUpdateChannel', [['dev', 'true']]);
  t.like(await get('getPanelUpdateInfo'), { channel: 'dev' });
  await post('setUpdateChannel', [['dev', 'false']]);
  const { runId } = await post<{ runId: string }>('updatePanel', []);
  t.like(await get('getUpdateStatus'), { runId });

  for (const path of ['getNewX25519Cert', 'getNewmldsa65', 'getNewmlkem768', 'getNewVlessEnc', 'getNewUUID'])
    t.notDeepEqual(await get(path), await get(path), `${path} is new each time`);
  const { auths } = await get<{ auths: { id: number }[] }>('getNewVlessEnc');
  t.deepEqual(
    auths.map(({ id }) => id),
    auths.map((_, i) => i + 1),
  );
  t.deepEqual(await get('getWebCertFiles'), { webCertFile: '', webKeyFile: '' });
  t.truthy(await post('getNewEchCert', [['sni', 'site.example']]));

  const lines = await post<string[]>('logs/{count}', [], [3]);
  t.is(lines.length, 3);
  t.deepEqual(await post('amneziawglogs/{count}', [], [10]), { running: false, peers: [], events: [] });

  await panel.addClient('ann', [await panel.addInbound()]);
  const timestamp = Math.floor(clock.now() / 1000);
  await asking.ask(t, `POST ${at}/clientIps`, {
    body: [{ clientEmail: 'ann', ips: [{ ip: '203.0.113.9', timestamp }] }],
  });
  t.like(await get('clientIps'), [{ clientEmail: 'ann', ips: [{ ip: '203.0.113.9', timestamp }] }]);

  const file = join(panel.dataDirectory, 'far.pem');
  await writeFile(file, certificate.cert);
  const hash = await post<string[]>('getCertHash', [['certFile', file]]);
  t.regex(hash.join(), /^[0-9a-f]{64}/i);
  t.deepEqual(await post('getRemoteCertHash', [['server', `127.0.0.1:${far.port}`]]), hash);
  t.like(await post('scanRealityTarget', [['target', `127.0.0.1:${far.port}`]]), {
    ...{ ip: '127.0.0.1', port: far.port, tls13: true, h2: true, privateTarget: true },
  });
  const targets: [string, string][] = [['targets', `127.0.0.1:${far.port}`]];
  t.is((await post<object[]>('scanRealityTargets', targets)).length, 1);
  asking.end(t);
});

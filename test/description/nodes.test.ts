// Every endpoint of the section about nodes, with another whole panel as the node.
import { createHash, X509Certificate } from 'node:crypto';
import test from 'ava';
import { FakeEngine } from '../harness/fake-engine.js';
import { TestPanel } from '../harness/panel.js';

import { selfSigned, writePair } from '../harness/self-signed.js';
import { Asking } from './asking.js';
import { NODES } from './nodes.js';
import { openWorld } from './world.js';

interface Node {
  readonly id: number;
  readonly guid: string;
}
const BUCKETS = [2, 30, 60, 120, 180, 300];

test('nodes: the section of the API description', async (t) => {
  const { panel, clock } = await openWorld();
  await using _ = panel;
  await using far = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  await far.addInbound({ remark: 'far away' });
  const { token } = await far.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'central' },
  });
  const asking = new Asking(panel, NODES);
  const at = '/panel/api/nodes';
  const reach = { scheme: 'http', address: '127.0.0.1', port: Number(new URL(far.url).port), basePath: '/' };
  const named = { name: 'far', remark: 'in a rack', enable: true };
  const body = { ...named, ...reach, apiToken: token, allowPrivateAddress: true };

  t.like(await asking.ask(t, `POST ${at}/test`, { body }), {
    status: 'online',
    error: '',
    engineState: 'running',
  });
  t.like(await asking.ask(t, `POST ${at}/inbounds`, { body }), [{ remark: 'far away', protocol: 'vless' }]);
  await asking.ask(t, `POST ${at}/add`, { body });
  const list = () => asking.ask<Node[]>(t, `GET ${at}/list`);
  const [node] = await list();
  const id = node?.id ?? 0;
  const { apiToken: __, ...shown } = body;
  t.like(node, { ...shown, apiToken: '', status: 'online', inboundSyncMode: 'all', tlsVerifyMode: 'verify' });
  const get = () => asking.ask<Node>(t, `GET ${at}/get/{id}`, { at: [id] });
  t.deepEqual(await get(), node);
  const below = await asking.ask<object[]>(t, 'GET /panel/api/server/descendants');
  t.like(below, [{ guid: node?.guid ?? '', name: 'far', status: 'online' }]);
  t.like(await asking.ask(t, `GET ${at}/webCert/{id}`, { at: [id] }), { webCertFile: '', webKeyFile: '' });
  t.like(await asking.ask(t, `POST ${at}/probe/{id}`, { at: [id] }), { status: 'online', error: '' });

  await asking.ask(t, `POST ${at}/update/{id}`, { at: [id], body: { ...body, remark: 'in a cellar' } });
  t.like(await get(), { ...shown, remark: 'in a cellar' });
  await asking.ask(t, `POST ${at}/setEnable/{id}`, { at: [id], body: { enable: false } });
  t.like(await get(), { enable: false });
  await asking.ask(t, `POST ${at}/setEnable/{id}`, { at: [id], body: { enable: true } });
  t.like(await get(), { enable: true });

  clock.tick(10_000);
  await panel.kernel.settled();
  for (const metric of ['cpu', 'mem'])
    for (const bucket of BUCKETS)
      await asking.ask(t, `GET ${at}/history/{id}/{metric}/{bucket}`, { at: [id, metric, bucket] });
  for (const wrong of ['cpu/7', 'disk/2'])
    t.is((await panel.call(`${at}/history/${id}/${wrong}`)).status, 400);
  // The node is no installed package, so it says why it cannot update itself.
  const [update] = await asking.ask<{ ok: boolean; error: string }[]>(t, `POST ${at}/updatePanel`, {
    body: { ids: [id], dev: false },
  });
  t.like(update, { id, name: 'far', ok: false });
  t.true(update?.error !== '');

  const { caCert } = await asking.ask<{ caCert: string }>(t, `POST ${at}/mtls/ca`);
  t.true(new X509Certificate(caCert).ca);
  await asking.ask(t, `POST ${at}/mtls/trustCA`, { body: { caCert } });

  const { cert, key } = selfSigned();
  const files = await writePair(far.dataDirectory, { cert, key });
  await using tls = await TestPanel.boot({
    env: { WEIR_TLS_CERT: files.certFile, WEIR_TLS_KEY: files.keyFile },
    anonymous: true,
  });
  const fingerprint = await asking.ask<string>(t, `POST ${at}/certFingerprint`, {
    body: { ...reach, scheme: 'https', port: tls.kernel.listeners.panel.port, allowPrivateAddress: true },
  });
  t.is(fingerprint, createHash('sha256').update(new X509Certificate(cert).raw).digest('base64'));

  // A node whose inbounds are shown here goes after them.
  for (const inbound of await panel.get<{ id: number }[]>('/panel/api/inbounds/list'))
    await panel.get(`/panel/api/inbounds/del/${inbound.id}`, { method: 'POST' });
  await asking.ask(t, `POST ${at}/del/{id}`, { at: [id] });
  t.deepEqual(await panel.get(`${at}/list`), []);
  asking.end(t);
});

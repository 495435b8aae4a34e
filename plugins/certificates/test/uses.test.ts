// Runs a certificate authority. The panel and the subscription server get certificates, and renewed ones, while connections stay open.
import { Agent } from 'node:https';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { FakeClock, FakeEngine, TestPanel, until } from '../../../test/harness/index.js';
import { ADMIN } from '../../../test/harness/api.js';
import { testUnless } from '../../../test/harness/left-out.js';
import { selfSigned, writePair } from '../../../test/harness/self-signed.js';
import type { CertificateReply } from '../fields.js';
import { ask } from './ask.js';
import { OrderingPanel, PATH } from './ordering-panel.js';
import { authorityMissing, Pebble } from './pebble.js';

const issuing = testUnless(authorityMissing());

issuing(
  'the subscription server gets a certificate, and a renewed one at once, while connections stay open',
  async (t) => {
    await using pebble = await Pebble.start();
    const world = await OrderingPanel.boot(pebble);
    const { dataDirectory } = world.panel;
    t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
    const { id } = await world.add({ names: ['sub.example.com'], uses: { subscription: true } });
    const { body } = await world.panel.call<CertificateReply>(`${PATH}/${id}/issue`, { body: {} });
    t.regex(body.msg, /the subscription server: it serves HTTPS from its next start on/);
    const { subCertFile } = await world.panel.get<{ subCertFile: string }>('/panel/api/setting/all', {
      body: {},
    });
    t.is(subCertFile, body.obj.certificateFile);
    await world.panel.stop();

    const again = new OrderingPanel(
      await TestPanel.boot({ plugins: [new FakeEngine().plugin], dataDirectory }),
    );
    const port = Number(new URL(again.panel.subscriptionUrl).port);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.is((await ask({ port, path: '/s/x', agent })).serial, body.obj.serial);
    t.is((await again.one(id)).serial, body.obj.serial);
    const renewed = await again.issue(id);
    t.not(renewed.serial, body.obj.serial);
    t.is((await ask({ port, path: '/s/x' })).serial, renewed.serial, 'a new connection');
    t.is((await ask({ port, path: '/s/x', agent })).serial, body.obj.serial, 'the open one');
    agent.destroy();

    // What an admin chose meanwhile is not undone by a renewal.
    const own = await writePair(dataDirectory, selfSigned());
    await again.panel.get('/panel/api/setting/update', {
      body: { subCertFile: own.certFile, subKeyFile: own.keyFile },
    });
    t.deepEqual(await again.panel.get<object>(PATH), [await again.one(id)]);
    const removed = await again.panel.call(`${PATH}/${id}/del`, { body: {} });
    t.is(removed.status, 200, removed.text);
    t.deepEqual(await again.list(), []);
    t.deepEqual(again.panel.faults, []);
    await again.panel.stop();
  },
);

issuing(
  'the panel serves HTTPS with its certificate, and a renewed one at once, while connections stay open',
  async (t) => {
    await using pebble = await Pebble.start();
    const world = await OrderingPanel.boot(pebble);
    const { dataDirectory } = world.panel;
    t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
    const { id } = await world.add({ names: ['panel.example.com'], uses: { panel: true } });
    const { body } = await world.panel.call<CertificateReply>(`${PATH}/${id}/issue`, { body: {} });
    t.regex(body.msg, /the panel: it serves HTTPS from its next start on/);
    await world.panel.stop();

    const options = { plugins: [new FakeEngine().plugin], dataDirectory, anonymous: true };
    const again = await TestPanel.boot(options);
    const port = again.kernel.listeners.panel.port;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const login = await ask({ port, path: '/login', body: ADMIN, agent });
    t.is(login.serial, body.obj.serial);
    const cookie = login.cookies.map((line) => line.split(';')[0]).join('; ');
    const csrf: string = (await ask({ port, path: '/csrf-token', headers: { cookie } })).obj;
    const headers = { cookie, 'x-csrf-token': csrf };
    const socket = new WebSocket(`wss://127.0.0.1:${port}/ws`, {
      rejectUnauthorized: false,
      headers: { cookie },
    });
    let heard = 0;
    socket.on('message', () => heard++);
    await until(() => heard > 0, 'the live stream begins');
    const files = (await ask({ port, path: '/panel/api/server/getWebCertFiles', headers })).obj as {
      webCertFile: string;
    };
    t.is(files.webCertFile, join(dataDirectory, 'certificates', 'panel', 'fullchain.pem'));

    const issued = await ask({ port, path: `${PATH}/${id}/issue`, headers, body: {} });
    t.is(issued.status, 200);
    const { serial } = issued.obj as CertificateReply;
    t.is((await ask({ port, path: '/healthz' })).serial, serial, 'a new connection');
    t.is((await ask({ port, path: '/healthz', agent })).serial, body.obj.serial, 'the open one');
    const before = heard;
    await until(() => heard > before, 'the live stream goes on');
    t.is(socket.readyState, WebSocket.OPEN);
    socket.terminate();
    agent.destroy();
    // It may not be removed while the panel serves it.
    t.is((await ask({ port, path: `${PATH}/${id}/del`, headers, body: {} })).status, 409);
    await again.stop();

    // Never plain HTTP instead.
    await rm(body.obj.keyFile);
    const failed = await t.throwsAsync(TestPanel.boot(options));
    t.regex(
      String(failed?.message),
      /the certificate of the panel: .*privkey\.pem cannot be read.*; to start without HTTPS, remove /,
    );
  },
);

issuing('with a variable for its certificate the panel refuses another one', async (t) => {
  const own = await mkdtemp(join(tmpdir(), 'weir-own-'));
  t.teardown(() => rm(own, { recursive: true, force: true }));
  const { certFile, keyFile } = await writePair(own, selfSigned());
  const env = { WEIR_TLS_CERT: certFile, WEIR_TLS_KEY: keyFile };
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], env, anonymous: true });
  const { port } = panel.kernel.listeners.panel;
  const login = await ask({ port, path: '/login', body: ADMIN });
  const cookie = login.cookies.map((line) => line.split(';')[0]).join('; ');
  const csrf: string = (await ask({ port, path: '/csrf-token', headers: { cookie } })).obj;
  const { status, msg } = await ask({
    port,
    path: PATH,
    headers: { cookie, 'x-csrf-token': csrf },
    body: { names: ['a.example.com'], agreeToTerms: true, uses: { panel: true } },
  });
  t.is(status, 400);
  t.regex(msg, /uses\.panel: WEIR_TLS_CERT names the certificate of the panel, .*cert\.pem; remove it/);
});

issuing(
  'a certificate is renewed by itself, with a third of its life left, also after it has expired',
  async (t) => {
    await using pebble = await Pebble.start({ life: 30 * 86_400 });
    const clock = new FakeClock(Date.now());
    const engine = new FakeEngine();
    await using world = await OrderingPanel.boot(pebble, { clock, plugins: [engine.plugin] });
    const { certFile, keyFile } = await writePair(world.panel.dataDirectory, selfSigned());
    const inbound = await world.panel.addInbound({
      streamSettings: {
        network: 'tcp',
        security: 'tls',
        tlsSettings: { certificates: [{ certificateFile: certFile, keyFile }] },
      },
    });
    const { id } = await world.add({ names: ['a.example.com'], uses: { inbounds: [inbound] } });
    await world.order();
    const first = await world.one(id);
    t.is(first.state, 'valid');
    t.deepEqual(
      engine.replaced.filter((one) => one === inbound),
      [],
    );
    const toRenewal = (first.renewAt ?? 0) - clock.now();
    const days = toRenewal / 86_400_000;
    t.true(days > 18 && days <= 20.1, `${days} days`);
    clock.jump(toRenewal - 60_000);
    await world.order();
    t.is((await world.one(id)).serial, first.serial, 'not yet');
    clock.jump(120_000);
    await world.order();
    const second = await world.one(id);
    t.not(second.serial, first.serial);
    t.is(engine.replaced.length, 0, 'the core reads the files by itself');
    // The authority's clock stays, so the next one would have ended too: back before it ends, but after the first did.
    clock.jump(Date.parse(second.validTo) - clock.now() - 3_600_000);
    await world.order();
    const third = await world.one(id);
    t.not(third.serial, second.serial);
    t.deepEqual(engine.replaced, [inbound], 'the core does not wait until it reads them');
    t.deepEqual(world.panel.faults, []);
  },
);

issuing('on port 80 the panel and the subscription server answer challenges themselves', async (t) => {
  await using pebble = await Pebble.start();
  for (const variable of ['WEIR_PANEL_PORT', 'WEIR_SUB_PORT']) {
    await using world = await OrderingPanel.boot(pebble, { env: { [variable]: String(pebble.httpPort) } });
    const { id } = await world.add({ names: ['a.example.com'] });
    t.is((await world.issue(id)).state, 'valid', variable);
    const stray = `http://127.0.0.1:${pebble.httpPort}/.well-known/acme-challenge/stray`;
    t.is((await fetch(stray)).status, 404);
  }
});

// A panel with a certificate, as a process: it is found over HTTPS, and a signal makes it read a renewed one.
import { mkdtemp, rm } from 'node:fs/promises';
import { request as send } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { PanelProcess } from '../harness/panel-process.js';
import { selfSigned, writePair } from '../harness/self-signed.js';

const healthOf = (panelUrl: string, ca: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const request = send(`${panelUrl}healthz`, { ca, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    request.on('error', reject).end();
  });

test('the panel serves HTTPS, and SIGHUP makes it take up a renewed certificate', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-tls-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const [old, renewed] = [selfSigned(), selfSigned()];
  const { certFile, keyFile } = await writePair(folder, old);
  const panel = await PanelProcess.start({
    anonymous: true,
    env: {
      WEIR_PRESET: 'minimal',
      WEIR_ENGINE_BIN: '/nowhere/xray',
      WEIR_BASE_PATH: '/hidden/',
      WEIR_TLS_CERT: certFile,
      WEIR_TLS_KEY: keyFile,
    },
  });
  t.teardown(() => panel.dispose());
  const { panelUrl } = panel.ready;
  t.regex(panelUrl, /^https:\/\/127\.0\.0\.1:\d+\/hidden\/$/);
  t.is(await healthOf(panelUrl, old.cert), 200);

  await writePair(folder, renewed);
  panel.signal('SIGHUP');
  await panel.until(
    () => panel.said('the certificate was renewed') !== undefined,
    'the certificate is renewed',
  );
  t.is(await healthOf(panelUrl, renewed.cert), 200);
  await t.throwsAsync(healthOf(panelUrl, old.cert));
  t.deepEqual(await panel.kill('SIGTERM'), { code: 0, signal: null });
});

test('without a certificate SIGHUP ends nothing', async (t) => {
  const panel = await PanelProcess.start({
    env: { WEIR_PRESET: 'minimal', WEIR_ENGINE_BIN: '/nowhere/xray' },
  });
  t.teardown(() => panel.dispose());
  panel.signal('SIGHUP');
  t.is((await panel.call('/healthz', { anonymous: true })).status, 200);
  t.deepEqual(await panel.kill('SIGTERM'), { code: 0, signal: null });
});

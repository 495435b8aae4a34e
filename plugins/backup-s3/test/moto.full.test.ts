// A panel whose backups go to a bucket of moto: small, and in parts.
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { TestPanel } from '../../../test/harness/index.js';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import type { ListedBackup } from '../../backup/archive/record.js';
import { motoCommand, startMoto } from './moto.js';

const loaded = () =>
  Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes('@aws-sdk/client-s3'));
/** moto looks whether there is a signature, and not whether it is right. */
const SIGNED = {
  authorization:
    'AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0',
};
const ENV = { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off' };

test.serial('the package of S3 is loaded when a backup goes there, and not before', async (t) => {
  const moto = await startMoto(t);
  await using panel = await TestPanel.boot({ env: ENV });
  const id = await panel.addInbound();
  await panel.addClient('ann', [id]);
  await panel.get('/panel/api/x/backup/run', { method: 'POST' });
  await panel.get('/panel/api/x/backup/status');
  t.false(loaded());
  await panel.get('/panel/api/setting/update', {
    body: {
      backupS3Bucket: 'weir-backups',
      backupS3Endpoint: moto.url,
      backupS3PathStyle: true,
      backupS3AllowPrivate: true,
      backupS3AccessKey: 'key',
      backupS3SecretKey: 'secret',
      backupS3Prefix: 'some/folder/',
    },
  });
  t.false(loaded());
  const run = () => panel.get<ListedBackup>('/panel/api/x/backup/run', { method: 'POST' });
  const failed = await run();
  t.true(loaded());
  t.regex(failed.copies['s3']?.problem ?? '', /s3:\/\/weir-backups.*there is no such bucket/);
  t.is((await panel.get<ListedBackup[]>('/panel/api/x/backup/list')).length, 2, 'the local one stays');

  t.is((await fetch(`${moto.url}/weir-backups`, { method: 'PUT' })).status, 200);
  const made = await run();
  t.is(made.copies['s3']?.problem, '', JSON.stringify(made.copies));
  const { manifest } = made;
  const key = `some/folder/${manifest.guid}/${manifest.name}`;
  const look = (path: string) => fetch(`${moto.url}/weir-backups${path}`, { headers: SIGNED });
  const stored = Buffer.from(await (await look(`/${key}`)).arrayBuffer());
  t.is(createHash('sha256').update(stored).digest('hex'), manifest.sha256);

  // Everything that can be done with a local one.
  const place = { place: 's3' };
  const [there] = await panel.get<ListedBackup[]>('/panel/api/x/backup/list?place=s3');
  t.deepEqual(there?.manifest, manifest);
  const verified = await panel.get<ListedBackup>(`/panel/api/x/backup/verify/${manifest.name}`, {
    body: place,
  });
  t.like(verified.verification, { state: 'verified', method: 'restored' });
  const response = await fetch(`${panel.url}/panel/api/x/backup/download/${manifest.name}?place=s3`, {
    headers: { cookie: panel.cookie },
  });
  t.true(Buffer.from(await response.arrayBuffer()).equals(stored));

  // Large enough for parts, which are read back in several slices' worth of pieces.
  for (let n = 0; n < 16; n++)
    await panel.get('/panel/api/clients/bulkCreate', {
      body: Array.from({ length: 1000 }, (_, i) => ({
        client: { email: `client-${n}-${i}`, comment: 'x'.repeat(1_000) },
        inboundIds: [id],
      })),
    });
  const large = await run();
  t.true(large.manifest.bytes > 17 * 1024 * 1024, `${large.manifest.bytes}`);
  t.is(large.copies['s3']?.problem, '', JSON.stringify(large.copies));
  t.is((await panel.get<ListedBackup[]>('/panel/api/x/backup/list?place=s3')).length, 2);
  const uploads = await (await look('?uploads')).text();
  t.false(uploads.includes('<Upload>'));

  const removed = await panel.call(`/panel/api/x/backup/delete/${manifest.name}`, { body: place });
  t.is(removed.status, 200, removed.text);
  t.is((await look(`/${key}`)).status, 404);
  t.is((await look(`/${key}.json`)).status, 404);

  // Rotation there and here: the settings keep one.
  await panel.get('/panel/api/setting/update', {
    body: { backupKeepLast: 1, backupKeepDays: 0, backupKeepWeeks: 0, backupKeepMonths: 0 },
  });
  await sleep(1_000);
  const last = await run();
  for (const where of ['local', 's3'])
    t.deepEqual(
      (await panel.get<ListedBackup[]>(`/panel/api/x/backup/list?place=${where}`)).map(
        (one) => one.manifest.name,
      ),
      [last.manifest.name],
      where,
    );
  // Nothing secret is in the log.
  t.false(panel.log.some((line) => line.includes('"secret"')));
});

test.serial(
  'kill -9 in the middle of an upload: the next panel uploads again, and no part stays',
  async (t) => {
    const moto = await startMoto(t);
    const look = (path: string) => fetch(`${moto.url}/weir-backups${path}`, { headers: SIGNED });
    t.is((await fetch(`${moto.url}/weir-backups`, { method: 'PUT' })).status, 200);
    let panel = await PanelProcess.start({ env: ENV });
    const { dataDirectory } = panel;
    t.teardown(() => panel.dispose());
    const id = await panel.addInbound();
    for (let n = 0; n < 16; n++)
      await panel.get('/panel/api/clients/bulkCreate', {
        body: Array.from({ length: 1000 }, (_, i) => ({
          client: { email: `client-${n}-${i}`, comment: 'x'.repeat(1_000) },
          inboundIds: [id],
        })),
      });
    await panel.get('/panel/api/setting/update', {
      body: {
        backupS3Bucket: 'weir-backups',
        backupS3Endpoint: moto.url,
        backupS3PathStyle: true,
        backupS3AllowPrivate: true,
        backupS3AccessKey: 'key',
        backupS3SecretKey: 'secret',
      },
    });
    const working = panel.call('/panel/api/x/backup/run', { method: 'POST' }).catch(() => undefined);
    const hasUpload = async () => (await (await look('?uploads')).text()).includes('<Upload>');
    while (!(await hasUpload())) await sleep(10);
    await panel.kill('SIGKILL');
    await working;
    t.true(await hasUpload(), 'it was killed in the middle');
    panel = await PanelProcess.start({ dataDirectory, env: ENV });
    const list = (place: string) => panel.get<ListedBackup[]>(`/panel/api/x/backup/list?place=${place}`);
    const [local] = await list('local');
    t.is(local?.verification.state, 'verified');
    await panel.until(async () => (await list('s3')).length === 1, 'the backup is uploaded', 60_000);
    const [there] = await list('s3');
    t.is(there?.manifest.sha256, local?.manifest.sha256);
    t.is(there?.problem, '');
    t.false(await hasUpload());
  },
);

test('without moto, a sentence says what is missing', (t) => {
  t.throws(() => motoCommand({}), { message: /test:full/ });
  t.throws(() => motoCommand({ WEIR_TEST_MOTO_MISSING: 'python3 is missing' }), {
    message: 'python3 is missing',
  });
});

// The settings webCertFile and webKeyFile: HTTPS with an admin's own files, from the next start on, and new files at once.
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { once } from 'node:events';
import test, { type ExecutionContext } from 'ava';
import { FakeEngine, refused, TestPanel, until } from '../../../test/harness/index.js';
import { editDatabase } from '../../../test/harness/edit-database.js';
import { folderFor } from '../../../test/harness/folder-for.js';
import { selfSigned, writePair } from '../../../test/harness/self-signed.js';
import { ask, login } from './ask.js';
import { PATH } from './ordering-panel.js';

const UPDATE = '/panel/api/setting/update';

async function boot(
  t: ExecutionContext,
  { dataDirectory, env = {} }: { dataDirectory?: string; env?: Record<string, string> } = {},
) {
  const panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    env,
    anonymous: true,
    ...(dataDirectory !== undefined && { dataDirectory }),
  });
  t.teardown(() => panel[Symbol.asyncDispose]());
  return panel;
}

async function pairIn(t: ExecutionContext, name: string) {
  const folder = join(await folderFor(t), name);
  await mkdir(folder);
  const { certFile, keyFile } = await writePair(folder, selfSigned(name));
  return { folder, webCertFile: certFile, webKeyFile: keyFile };
}

/** The name in the certificate that the panel serves. */
async function served({ kernel }: TestPanel): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: kernel.listeners.panel.port, rejectUnauthorized: false });
  try {
    await once(socket, 'secureConnect');
    return String(socket.getPeerCertificate().subject.CN);
  } finally {
    socket.destroy();
  }
}

const settings = async (panel: TestPanel) =>
  panel.get<Record<string, unknown> & { pinned: Record<string, string> }>('/panel/api/setting/all', {
    body: {},
  });

/** Restarts a panel that may serve HTTPS, so nobody logs in. */
async function again(t: ExecutionContext, panel: TestPanel, env?: Record<string, string>) {
  await panel.stop();
  return boot(t, { dataDirectory: panel.dataDirectory, ...(env && { env }) });
}

test('the panel serves HTTPS with the files of the settings from its next start on, and plain HTTP when they are empty again', async (t) => {
  const first = await boot(t);
  await first.login();
  const one = await pairIn(t, 'one.example');
  const { webCertFile, webKeyFile } = one;
  const saved = await first.call(UPDATE, { body: { webCertFile, webKeyFile } });
  t.is(saved.body.msg, 'settings saved; webCertFile, webKeyFile: from the next start of the panel on');
  t.is((await fetch(`${first.url}/healthz`)).status, 200, 'not yet');
  const secure = await again(t, first);
  t.is(await served(secure), 'one.example');
  t.true(secure.kernel.listeners.panelUrl.startsWith('https://'));

  // A renewed file is served without a restart; the job looks once a minute.
  await writePair(one.folder, selfSigned('renewed.example'));
  await until(async () => {
    await secure.kernel.listeners.renewCertificate();
    return (await served(secure)) === 'renewed.example';
  }, 'the renewed certificate is served');

  await secure.stop();
  await editDatabase(first.dataDirectory, [
    `DELETE FROM settings WHERE name IN ('webCertFile', 'webKeyFile')`,
  ]);
  const still = await boot(t, { dataDirectory: first.dataDirectory });
  t.is(await served(still), 'renewed.example', 'this start only learns of it');
  const plain = await again(t, still);
  t.is((await fetch(`${plain.url}/healthz`)).status, 200);
  t.deepEqual(plain.faults, []);
});

test('another pair takes the place of the one that is served at once', async (t) => {
  const first = await boot(t);
  await first.login();
  const [{ webCertFile, webKeyFile }, two] = [await pairIn(t, 'one.example'), await pairIn(t, 'two.example')];
  await first.get(UPDATE, { body: { webCertFile, webKeyFile } });
  const secure = await again(t, first);
  const { port } = secure.kernel.listeners.panel;
  const { webCertFile: certFile, webKeyFile: keyFile } = two;
  const body = { webCertFile: certFile, webKeyFile: keyFile };
  const headers = await login(port);
  const changed = await ask({ port, path: UPDATE, headers, body });
  t.is(changed.msg, 'settings saved', 'at once');
  await until(async () => (await served(secure)) === 'two.example', 'the other certificate is served');
  const emptied = await ask({ port, path: UPDATE, headers, body: { webCertFile: '', webKeyFile: '' } });
  t.regex(emptied.msg, /webKeyFile: from the next start/);
  t.is(await served(secure), 'two.example');
});

test('files that the panel could not serve are refused', async (t) => {
  const panel = await boot(t);
  await panel.login();
  const [one, two] = [await pairIn(t, 'one.example'), await pairIn(t, 'two.example')];
  const junk = join(await folderFor(t), 'junk.pem');
  await writeFile(junk, 'junk');
  const cases: readonly (readonly [body: Record<string, string>, field: string, says: string])[] = [
    [{ webCertFile: one.webCertFile }, 'webKeyFile', 'belong together'],
    [{ webKeyFile: one.webKeyFile }, 'webCertFile', 'belong together'],
    [{ webCertFile: one.webCertFile, webKeyFile: two.webKeyFile }, 'webKeyFile', 'matches'],
    [{ webCertFile: junk, webKeyFile: one.webKeyFile }, 'webCertFile', 'PEM'],
    [{ webCertFile: '/dev/zero', webKeyFile: one.webKeyFile }, 'webCertFile', 'no file'],
    [{ webCertFile: '/nowhere/x.pem', webKeyFile: one.webKeyFile }, 'webCertFile', 'ENOENT'],
  ];
  for (const [body, field, says] of cases)
    await refused(t, panel, UPDATE, { body }, { status: 400, code: 'CERTIFICATES_FILES', field, says });
  await refused(
    t,
    panel,
    UPDATE,
    { body: { webCertFile: 'cert.pem', webKeyFile: one.webKeyFile } },
    { status: 400, code: 'KERNEL_INVALID', field: 'webCertFile' },
  );
});

test('an ordered certificate and own files do not compete for the panel', async (t) => {
  const panel = await boot(t);
  await panel.login();
  const { webCertFile, webKeyFile } = await pairIn(t, 'one.example');
  const order = { names: ['a.example.com'], agreeToTerms: true };
  const ordered = await panel.get<{ id: number }>(PATH, { body: { ...order, uses: { panel: true } } });
  await refused(
    t,
    panel,
    UPDATE,
    { body: { webCertFile, webKeyFile } },
    { status: 409, code: 'CERTIFICATES_TAKEN', field: 'webCertFile', says: 'end that use first' },
  );
  await panel.get(`${PATH}/${ordered.id}/uses`, { body: { uses: {} } });
  await panel.get(UPDATE, { body: { webCertFile, webKeyFile } });
  await refused(
    t,
    panel,
    `${PATH}/${ordered.id}/uses`,
    { body: { uses: { panel: true } } },
    { status: 400, code: 'CERTIFICATES_USE', field: 'uses.panel', says: 'webCertFile names the certificate' },
  );
});

test('a database from another machine names files that are not here: the panel stays as it was and says so', async (t) => {
  const first = await boot(t);
  await first.stop();
  await editDatabase(first.dataDirectory, [
    `INSERT INTO settings VALUES ('webCertFile', '"/nowhere/c.pem"', 0), ('webKeyFile', '"/nowhere/k.pem"', 0)`,
  ]);
  const panel = await again(t, first);
  t.true(panel.log.some((line) => line.includes('the panel does not use webCertFile and webKeyFile')));
  const next = await again(t, panel);
  t.is((await fetch(`${next.url}/healthz`)).status, 200);
});

test('variables of the environment hold both settings', async (t) => {
  const { webCertFile, webKeyFile } = await pairIn(t, 'one.example');
  const first = await boot(t, { env: { WEIR_TLS_CERT: webCertFile, WEIR_TLS_KEY: webKeyFile } });
  t.is(await served(first), 'one.example');
  const { dataDirectory } = first;
  await first.stop();
  await rm(join(dataDirectory, 'certificates', 'panel'), { force: true });
  const plain = await boot(t, { dataDirectory });
  await plain.login();
  t.like(await settings(plain), { webCertFile: '', webKeyFile: '' });
});

test('files that lead through the link of the panel itself are refused: the link would lead to itself', async (t) => {
  const first = await boot(t);
  await first.login();
  const { webCertFile, webKeyFile } = await pairIn(t, 'one.example');
  await first.get(UPDATE, { body: { webCertFile, webKeyFile } });
  const own = join(first.dataDirectory, 'certificates', 'panel');
  const folder = await folderFor(t);
  await symlink(own, join(folder, 'live'));
  await symlink(join(folder, 'live', 'fullchain.pem'), join(folder, 'cert.pem'));
  for (const path of [
    join(own, 'fullchain.pem'),
    join(folder, 'live', 'fullchain.pem'),
    join(folder, 'cert.pem'),
    join(own, '..', 'panel', 'fullchain.pem'),
  ])
    await refused(
      t,
      first,
      UPDATE,
      { body: { webCertFile: path } },
      { status: 400, code: 'CERTIFICATES_FILES', field: 'webCertFile', says: 'the panel itself' },
    );
  await first.stop();
  await editDatabase(first.dataDirectory, [
    `UPDATE settings SET value = '"${join(folder, 'cert.pem')}"' WHERE name = 'webCertFile'`,
  ]);
  const still = await boot(t, { dataDirectory: first.dataDirectory });
  t.true(still.log.some((line) => line.includes('the panel does not use webCertFile and webKeyFile')));
  t.is(await served(await again(t, still)), 'one.example');
});

test('an export leaves the files out: they belong to this machine', async (t) => {
  const panel = await boot(t);
  await panel.login();
  const { webCertFile, webKeyFile } = await pairIn(t, 'one.example');
  await panel.get(UPDATE, { body: { webCertFile, webKeyFile } });
  const { text } = await panel.call('/panel/api/x/settings/export');
  t.false(text.includes(webCertFile) || text.includes(webKeyFile), text.slice(0, 500));
});

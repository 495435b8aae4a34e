// The link that leads the panel to the files of its settings: changes at once, and what the config file names instead.
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { folderFor } from '../../../test/harness/folder-for.js';
import { selfSigned, writePair } from '../../../test/harness/self-signed.js';
import { CertificateFolders } from '../certificate-files.js';
import { PanelFiles } from '../panel-files.js';

type Parts = ConstructorParameters<typeof PanelFiles>[0];

async function world(t: ExecutionContext, certificateSource: 'default' | 'file' = 'default') {
  const folder = await folderFor(t);
  const values = { webCertFile: '', webKeyFile: '' };
  const said: string[] = [];
  const say = (text: string, fields: object) => said.push(`${text} ${JSON.stringify(fields)}`);
  const folders = new CertificateFolders({ dataDirectory: join(folder, 'data') });
  const parts = {
    folders,
    store: { list: () => [] },
    allSettings: { read: () => ({ ...values }) },
    listener: {
      certificateSource,
      certificateFiles: { certificate: '/etc/file.pem', key: '/etc/file.key' },
      readCertificate: async () => undefined,
    },
    log: { error: say, warn: say },
  };
  const pairOf = async (name: string) => {
    await mkdir(join(folder, name));
    const { certFile, keyFile } = await writePair(join(folder, name), selfSigned(name));
    return { webCertFile: certFile, webKeyFile: keyFile };
  };
  const pairs = join(folder, 'data', 'certificates', 'panel-files');
  return { files: new PanelFiles(parts as unknown as Parts), values, said, folders, pairOf, pairs };
}

test('changes at the same moment leave the files of the last one', async (t) => {
  const { files, values, said, folders, pairOf, pairs } = await world(t);
  const names = ['a.example', 'b.example', 'c.example'];
  const all = await Promise.all(names.map(pairOf));
  for (let round = 0; round < 5; round++)
    await Promise.all(
      all.map((pair) => {
        Object.assign(values, pair);
        return files.apply();
      }),
    );
  t.deepEqual(said, []);
  t.is((await readdir(pairs)).length, 1);
  t.deepEqual(await folders.panelFiles(), { certificate: values.webCertFile, key: values.webKeyFile });
});

test('a key that lies elsewhere is another pair', async (t) => {
  const { files, values, said, folders, pairOf, pairs } = await world(t);
  const one = await pairOf('one.example');
  Object.assign(values, one);
  await files.apply();
  const moved = `${one.webKeyFile}.moved`;
  await copyFile(one.webKeyFile, moved);
  values.webKeyFile = moved;
  await files.apply();
  t.is((await folders.panelFiles())?.key, moved);
  t.is((await readdir(pairs)).length, 1, 'the links of the previous pair are gone');
  values.webKeyFile = '/nowhere/key.pem';
  await files.apply();
  t.regex(said.join(), /stays as it was.*\/nowhere\/key\.pem/);
  t.is((await folders.panelFiles())?.key, moved);
});

test('the config file names the certificate: the settings are refused, and unused ones are logged', async (t) => {
  const { files, values, said, folders, pairOf } = await world(t, 'file');
  const pair = await pairOf('one.example');
  for (const changes of [pair, { webCertFile: '', webKeyFile: '' }])
    await t.throwsAsync(files.check({ changes, values: changes }), {
      message: /^webCertFile: tlsCert in the config file/,
    });
  await files.check({ changes: { pageSize: 1 }, values: pair });
  values.webCertFile = '/etc/file.pem';
  await files.apply();
  t.deepEqual(said, []);
  Object.assign(values, pair);
  await files.apply();
  t.regex(said.join(), /^tlsCert in the config file .* are not used/);
  t.is(await folders.panelFiles(), undefined);
});

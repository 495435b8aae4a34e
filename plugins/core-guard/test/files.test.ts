// Files that an inbound may name: what is refused is refused at once, by its name, and the panel goes on.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import {
  FakeClock,
  FakeEngine,
  freePort,
  refused,
  selfSigned,
  TestPanel,
} from '../../../test/harness/index.js';

let panel: TestPanel;
let named: string;
let outside: string;
const { cert, key } = selfSigned();
test.before(async () => {
  named = await mkdtemp(join(tmpdir(), 'weir-test-'));
  outside = await mkdtemp(join(tmpdir(), 'weir-test-'));
  for (const folder of [named, outside]) {
    await writeFile(join(folder, 'site.crt'), cert);
    await writeFile(join(folder, 'site.key'), key);
  }
  panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    clock: new FakeClock(),
    env: { WEIR_CERTIFICATE_DIRS: named },
  });
});
test.after.always(async () => {
  await panel?.[Symbol.asyncDispose]();
  for (const folder of [named, outside]) await rm(folder, { recursive: true, force: true });
});

const tls = (settings: object) => ({ security: 'tls', tlsSettings: settings });
const files = (certificateFile: string, keyFile = join(named, 'site.key')) =>
  tls({ certificates: [{ certificateFile, keyFile }] });
const FILE = 'streamSettings.tlsSettings.certificates.0.certificateFile';

async function refuse(
  t: Parameters<typeof refused>[0],
  field: string,
  streamSettings: object,
  says: string,
): Promise<void> {
  await refused(
    t,
    panel,
    '/panel/api/inbounds/add',
    { body: { protocol: 'vless', listen: '127.0.0.1', port: await freePort(), streamSettings } },
    { status: 400, code: 'KERNEL_INVALID', field, says },
  );
}

test.serial(
  'files outside the folders for certificates are refused, and the variable is named',
  async (t) => {
    for (const path of [
      '/dev/ptmx',
      '/dev/zero',
      '/etc/shadow',
      join(outside, 'site.crt'),
      `${named}/../${outside.split('/').at(-1)}/site.crt`,
      `${named}-not/site.crt`,
    ])
      await refuse(t, FILE, files(path), 'WEIR_CERTIFICATE_DIRS');
    for (const path of ['site.crt', `-----BEGIN ${'/..'.repeat(20)}/etc/shadow`])
      await refuse(t, FILE, files(path), 'absolute path');
    const link = join(named, 'link.crt');
    await symlink(join(outside, 'site.crt'), link);
    await refuse(t, FILE, files(link), `${link} is outside the folders`);
  },
);

test.serial('only regular files of at most 1 MiB are opened', async (t) => {
  const fifo = join(named, 'fifo');
  execFileSync('mkfifo', [fifo]);
  await mkdir(join(named, 'folder'));
  await symlink('/dev/zero', join(named, 'endless'));
  await writeFile(join(named, 'large'), Buffer.alloc(1024 * 1024 + 1));
  const socket = createServer().listen(join(named, 'socket'));
  t.teardown(() => socket.close());
  await new Promise((resolve) => socket.once('listening', resolve));
  for (const name of ['fifo', 'folder', 'socket'])
    await refuse(t, FILE, files(join(named, name)), 'not a regular file');
  await refuse(t, FILE, files(join(named, 'endless')), 'outside the folders');
  await refuse(t, FILE, files(join(named, 'large')), '1 MiB');
  await refuse(
    t,
    'streamSettings.tlsSettings.certificates.0.keyFile',
    files(join(named, 'site.crt'), fifo),
    'not a regular file',
  );
});

test.serial("the panel's own files are refused as certificates", async (t) => {
  const own = panel.dataDirectory;
  await mkdir(join(own, 'engine'), { recursive: true });
  await writeFile(join(own, 'engine', 'config.json'), '{}');
  await symlink(join(own, 'weir.sqlite'), join(named, 'copy'));
  for (const path of ['weir.sqlite', 'panel.secret', 'panel.sock', 'weir.json', 'engine/config.json'])
    await refuse(t, FILE, files(join(own, path)), 'belongs to the panel');
  await refuse(
    t,
    FILE,
    files(join(named, 'copy')),
    process.env['WEIR_TEST_DATABASE_SERVER'] ? '' : 'belongs to the panel',
  );
});

test.serial('a file is checked also beside text: the core prefers the file', async (t) => {
  const lines = (pem: string) => pem.trim().split('\n');
  const pair = { certificate: lines(cert), key: lines(key) };
  await refuse(
    t,
    FILE,
    tls({ certificates: [{ ...pair, certificateFile: '/dev/zero' }] }),
    'WEIR_CERTIFICATE_DIRS',
  );
});

test.serial('keys with which the core writes or serves files are refused wherever they stand', async (t) => {
  const master = '/tmp/weir-master.log';
  const stream = 'streamSettings';
  for (const [field, settings] of [
    [`${stream}.tlsSettings.masterKeyLog`, tls({ certificates: [], masterKeyLog: master })],
    [`${stream}.realitySettings.masterKeyLog`, { realitySettings: { masterKeyLog: master } }],
    [`${stream}.TLSSettings.MASTERKEYLOG`, { Security: 'tls', TLSSettings: { MASTERKEYLOG: master } }],
    [`${stream}.tlsSettings.maſterKeyLog`, { tlsSettings: { maſterKeyLog: master } }],
    [
      `${stream}.xhttpSettings.downloadSettings.tlsSettings.masterKeyLog`,
      { xhttpSettings: { downloadSettings: { tlsSettings: { masterKeyLog: master } } } },
    ],
    [
      `${stream}.hysteriaSettings.masquerade.dir`,
      { hysteriaSettings: { masquerade: { type: 'file', dir: '/' } } },
    ],
    // Go shortens this path to the root before it looks for the folder of that name.
    [
      `${stream}.hysteriaSettings.masquerade.dir`,
      { hysteriaSettings: { masquerade: { type: 'file', dir: `-----BEGIN ${'/..'.repeat(20)}` } } },
    ],
    [`${stream}.tlsSettings.masterKeyLog`, tls({ certificates: [], masterKeyLog: '-----BEGIN x' })],
  ] as const)
    await refuse(t, field, settings, 'leave this key out');
  await refuse(
    t,
    `${stream}.Security.Certificates.0.CertificateFile`,
    { Security: { Certificates: [{ CertificateFile: '/dev/zero' }] } },
    'WEIR_CERTIFICATE_DIRS',
  );
  await refuse(
    t,
    `${stream}.sockopt.dialerProxy`,
    { sockopt: { dialerProxy: 'weir.api' } },
    "the core's own API",
  );
  await refuse(
    t,
    `${stream}.hysteriaSettings.masquerade.url`,
    { hysteriaSettings: { masquerade: { url: `http://127.0.0.1:${panel.kernel.listeners.panel.port}/` } } },
    "the panel's own",
  );
});

test.serial('settings with which an inbound blocks or crashes the whole core are refused', async (t) => {
  const pair = { certificateFile: join(named, 'site.crt'), keyFile: join(named, 'site.key') };
  await refuse(
    t,
    'streamSettings.tlsSettings.echConfigList',
    tls({
      certificates: [pair],
      echConfigList: 'a.example+udp://127.0.0.1:53',
      echSockopt: { dialerProxy: 'direct' },
    }),
    'would ask this name server',
  );
  await refuse(
    t,
    'streamSettings.tlsSettings.certificates.0.ocspStapling',
    tls({ certificates: [{ ...pair, ocspStapling: 9_223_372_037 }] }),
    'crash the core',
  );
  const own = { certificates: [{ ...pair, ocspStapling: 3600 }], echConfigList: 'AAAA' };
  const client = { echConfigList: 'a.example+https://1.1.1.1/dns-query' };
  t.true((await panel.addInbound({ streamSettings: tls({ ...own, settings: client }) })) > 0);
});

test.serial(
  'accepts valid files from named folders and the data folder, also through links inside',
  async (t) => {
    const links = join(named, 'live');
    await mkdir(links);
    await symlink(join(named, 'site.crt'), join(links, 'site.crt'));
    await mkdir(join(panel.dataDirectory, 'certs'));
    await writeFile(join(panel.dataDirectory, 'certs', 'site.crt'), cert);
    for (const path of [join(links, 'site.crt'), join(panel.dataDirectory, 'certs', 'site.crt')])
      t.true((await panel.addInbound({ streamSettings: files(path) })) > 0, path);
    t.true(
      (await panel.addInbound({
        streamSettings: {
          ...files(join(named, 'site.crt')),
          tlsSettings: { ...files(join(named, 'site.crt')).tlsSettings, masterKeyLog: 'none' },
        },
      })) > 0,
    );
  },
);

// The unit of the service: valid, and no weaker than docs/install.md says.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { testUnless } from '../harness/left-out.js';
import { sourceRoot } from '../harness/source-root.js';

const run = promisify(execFile);
/** What `systemd-analyze security` may say: 0 is best, 10 is worst. */
const WORST_EXPOSURE = 2.0;

const analyze = (...args: string[]) =>
  run('systemd-analyze', args).then(
    ({ stdout, stderr }) => ({ code: 0, text: stdout + stderr }),
    (error: { code?: number | string; stdout?: string; stderr?: string }) => ({
      code: error.code ?? 1,
      text: `${error.stdout}${error.stderr}`,
    }),
  );
const missing = (await analyze('--version')).code === 0 ? '' : 'systemd-analyze is missing';

const read = async (path: string): Promise<string> => readFile(new URL(path, await sourceRoot()), 'utf8');

/** The unit with programs that are there, since no package is installed here; with the drop-in, if wanted. */
async function unitIn(t: ExecutionContext, withSidecars: boolean): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'weir.service');
  await writeFile(
    path,
    (await read('install/weir.service')).replaceAll(/^(Exec\w+)=\/opt\/.*$/gm, '$1=/bin/true'),
  );
  if (withSidecars) {
    await mkdir(`${path}.d`);
    await writeFile(join(`${path}.d`, 'sidecars.conf'), await read('install/sidecars.conf'));
  }
  return path;
}

for (const withSidecars of [false, true])
  testUnless(missing)(
    `systemd accepts the unit${withSidecars ? ' with the drop-in for sidecars' : ''}`,
    async (t) => {
      t.deepEqual(await analyze('verify', '--man=no', await unitIn(t, withSidecars)), { code: 0, text: '' });
    },
  );

for (const name of ['weir-update.service', 'weir-update.path'])
  testUnless(missing)(`systemd accepts ${name}`, async (t) => {
    const folder = dirname(await unitIn(t, false));
    for (const one of ['weir-update.service', 'weir-update.path']) {
      const text = (await read(`install/${one}`)).replaceAll(/^(Exec\w+)=\/opt\/.*$/gm, '$1=/bin/true');
      await writeFile(join(folder, one), text);
    }
    t.deepEqual(await analyze('verify', '--man=no', join(folder, name)), { code: 0, text: '' });
  });

testUnless(missing)('the unit is as hardened as docs/install.md says', async (t) => {
  const { text } = await analyze('security', '--offline=true', '--no-pager', await unitIn(t, false));
  const exposure = Number(/Overall exposure level for \S+: ([\d.]+)/.exec(text)?.[1]);
  t.true(exposure > 0 && exposure <= WORST_EXPOSURE, text);
  t.regex(await read('docs/install.md'), /exposure of \d\.\d .* below 2\.0/);
});

/** Values of a key, in order. */
const valuesOf = (unit: string, key: string): string[] =>
  [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value);

test('the unit lets the core outlive the panel, and gives no right that is not explained', async (t) => {
  const unit = await read('install/weir.service');
  t.deepEqual(valuesOf(unit, 'KillMode'), ['process']);
  t.deepEqual(valuesOf(unit, 'RestartKillSignal'), ['SIGUSR2']);
  t.deepEqual(valuesOf(unit, 'RuntimeDirectoryPreserve'), ['yes']);
  t.deepEqual(valuesOf(unit, 'OOMPolicy'), ['continue']);
  t.deepEqual(valuesOf(unit, 'UMask'), ['0077']);
  t.deepEqual(valuesOf(unit, 'NoNewPrivileges'), ['yes']);
  t.deepEqual(valuesOf(unit, 'ProtectSystem'), ['strict']);
  t.deepEqual(valuesOf(unit, 'StateDirectory'), ['weir']);
  t.deepEqual(valuesOf(unit, 'CapabilityBoundingSet'), ['CAP_NET_BIND_SERVICE CAP_NET_ADMIN']);
  t.deepEqual(valuesOf(unit, 'AmbientCapabilities'), valuesOf(unit, 'CapabilityBoundingSet'));
  t.deepEqual(valuesOf(unit, 'RestrictAddressFamilies'), ['AF_INET AF_INET6 AF_UNIX AF_NETLINK']);
  t.deepEqual(valuesOf(unit, 'MemoryDenyWriteExecute'), [], 'V8 needs it');
});

// The core's release from a server of the test: everything that can be wrong with it, and what is done then.
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { digestIn } from '../download.js';
import { type CoreConfig, findCore, type FoundCore } from '../find.js';
import type { Timeouts } from '../fetch.js';
import { assetOf, CORE_VERSION, keptCore, thisMachine } from '../release.js';
import { zipOf } from './archive.js';

const PROGRAM = `#!/bin/sh\necho "Xray ${CORE_VERSION} (a core of the test)"\n`;
const asset = assetOf(thisMachine()) ?? 'no asset for this machine';
const good = zipOf([
  { name: 'geoip.dat', content: 'x' },
  { name: 'xray', content: PROGRAM, mode: 0o100644 },
]);
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const digestFile = (digest: string): string =>
  `MD5= 00\nSHA1= 11\nSHA2-256= ${digest}\nSHA2-512= ${digest}${digest}\n`;

type Answer = (response: ServerResponse, said: readonly string[]) => void;
const sends =
  (body: Buffer | string): Answer =>
  (response) =>
    void response.end(body);
const refuses =
  (status: number): Answer =>
  (response) =>
    void response.writeHead(status).end('no');

interface Outcome {
  readonly found: FoundCore | { readonly missing: string };
  readonly asked: readonly string[];
  readonly warnings: readonly string[];
  readonly said: readonly string[];
  readonly env: Record<string, string>;
  readonly config: CoreConfig;
}

/** Looks for a core where only the download can give one: no Go, nothing on PATH. */
async function look(
  t: ExecutionContext,
  {
    zip = sends(good),
    dgst = sends(digestFile(sha256(good))),
    config: changed = {},
    env: more = {},
    timeouts = {},
  }: {
    zip?: Answer;
    dgst?: Answer;
    config?: Partial<CoreConfig>;
    env?: Record<string, string>;
    timeouts?: Partial<Timeouts>;
  },
): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-download-'));
  await mkdir(join(folder, 'path'));
  const asked: string[] = [];
  const [warnings, said]: [string[], string[]] = [[], []];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    (request.url?.endsWith('.dgst') ? dgst : zip)(response, said);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true, force: true });
  });
  const env = { PATH: join(folder, 'path'), XDG_CACHE_HOME: join(folder, 'cache'), ...more };
  const config: CoreConfig = {
    install: 'on',
    releases: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mirror/`,
    ...changed,
  };
  const log = {
    info: (message: string, data: { received?: string } = {}) =>
      void said.push([message, data.received].filter(Boolean).join(' ')),
    warn: (message: string, data: object = {}) => void warnings.push(`${message} ${JSON.stringify(data)}`),
  };
  const found = await findCore({
    config,
    env,
    dataDirectory: join(folder, 'data'),
    log,
    timeouts: { answerMs: 20_000, silenceMs: 20_000, wholeMs: 60_000, reportMs: 20_000, ...timeouts },
  });
  return { found, asked, warnings, said, env, config };
}

/** Nothing was put in place, nothing half was left, and the sentence that the admin reads says why. */
async function refusedBecause(
  t: ExecutionContext,
  { found, env, warnings }: Outcome,
  why: RegExp,
): Promise<void> {
  t.true('missing' in found);
  t.regex(
    'missing' in found ? found.missing : '',
    new RegExp(
      `none could be downloaded \\(.*${why.source}.*\\), and none could be built: there is no Go on PATH`,
    ),
  );
  t.regex(warnings.join('\n'), why);
  t.deepEqual(await readdir(dirname(keptCore(env))).catch(() => []), []);
}

test('the release is downloaded, checked, unpacked and ready to run, and the next start finds it', async (t) => {
  const { found, asked, env, config, warnings, said } = await look(t, {});
  t.deepEqual(found, { binary: keptCore(env), source: 'downloaded' });
  t.deepEqual(asked, [`/mirror/v${CORE_VERSION}/${asset}.dgst`, `/mirror/v${CORE_VERSION}/${asset}`]);
  t.is(await readFile(keptCore(env), 'utf8'), PROGRAM);
  t.is((await stat(keptCore(env))).mode & 0o777 & ~0o022, 0o755);
  t.deepEqual(await readdir(dirname(keptCore(env))), ['xray']);
  t.deepEqual([warnings, said], [[], ['downloading the core']]);
  t.deepEqual(
    await findCore({ config, env, dataDirectory: '/nowhere', log: { info: t.fail, warn: t.fail } }),
    {
      binary: keptCore(env),
      source: 'cache',
    },
  );
});

test('who waits is told how much has come', async (t) => {
  // The second half is sent when the first has been told of.
  const inHalves: Answer = (response, said) => {
    response.writeHead(200, { 'content-length': good.length }).write(good.subarray(0, 100));
    const waiting = setInterval(() => {
      if (!said.some((line) => line.includes('MiB'))) return;
      clearInterval(waiting);
      response.end(good.subarray(100));
    }, 5);
    response.on('close', () => clearInterval(waiting));
  };
  const { found, said } = await look(t, { zip: inHalves, timeouts: { reportMs: 20, silenceMs: 20_000 } });
  t.is('source' in found && found.source, 'downloaded');
  t.is(said.at(-1), 'still downloading the core 0.0 MiB of 0.0 MiB');
});

test('an archive that its digest does not fit is refused', async (t) => {
  const outcome = await look(t, { dgst: sends(digestFile(sha256(Buffer.from('another')))) });
  await refusedBecause(t, outcome, /has the SHA-256 [0-9a-f]{64}, but http.*\.dgst says/);
});

test("WEIR_ENGINE_SHA256 takes precedence over the server's digest, which is not requested", async (t) => {
  const fits = await look(t, { dgst: refuses(404), config: { sha256: sha256(good).toUpperCase() } });
  t.is('source' in fits.found && fits.found.source, 'downloaded');
  t.deepEqual(fits.asked, [`/mirror/v${CORE_VERSION}/${asset}`]);
  await refusedBecause(
    t,
    await look(t, { config: { sha256: 'ab'.repeat(32) } }),
    /but WEIR_ENGINE_SHA256 says (?:ab){32}/,
  );
});

test('without a digest nothing is taken', async (t) => {
  const outcome = await look(t, { dgst: refuses(404) });
  await refusedBecause(t, outcome, /\.dgst: the server answered 404/);
  t.is(outcome.asked.length, 1);
  await refusedBecause(t, await look(t, { dgst: sends('<html>') }), /\.dgst names no SHA-256/);
});

test('a release that is not there is named with its address', async (t) => {
  await refusedBecause(
    t,
    await look(t, { zip: refuses(404) }),
    new RegExp(`/mirror/v${CORE_VERSION}/${asset}: the server answered 404`),
  );
});

test('a server that does not answer, or stops in the middle, is left alone', async (t) => {
  await refusedBecause(
    t,
    await look(t, { dgst: () => undefined, timeouts: { answerMs: 300 } }),
    /no answer within 0\.3 s/,
  );
  await refusedBecause(
    t,
    await look(t, {
      zip: (response) =>
        void response.writeHead(200, { 'content-length': good.length }).write(good.subarray(0, 50)),
      timeouts: { silenceMs: 300 },
    }),
    /no data for 0\.3 s/,
  );
  await refusedBecause(
    t,
    await look(t, {
      zip: (response) =>
        void response
          .writeHead(200, { 'content-length': good.length })
          .write(good.subarray(0, 50), () => response.destroy()),
    }),
    new RegExp(`${asset}: `),
  );
});

test('a server that is not there', async (t) => {
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
  const { port } = gone.address() as AddressInfo;
  await new Promise((resolve) => gone.close(resolve));
  await refusedBecause(
    t,
    await look(t, { config: { releases: `http://127.0.0.1:${port}` } }),
    /ECONNREFUSED/,
  );
});

test('a truncated archive with a digest that fits it is refused', async (t) => {
  const cut = good.subarray(0, good.length - 30);
  await refusedBecause(
    t,
    await look(t, { zip: sends(cut), dgst: sends(digestFile(sha256(cut))) }),
    /the archive gives no xray/,
  );
});

test('what announces more than anybody needs is not read', async (t) => {
  await refusedBecause(
    t,
    await look(t, { zip: (response) => void response.writeHead(200, { 'content-length': 1e9 }).write('x') }),
    /it is larger than 209715200 bytes/,
  );
  await refusedBecause(
    t,
    await look(t, { dgst: sends('x'.repeat(70_000)) }),
    /\.dgst: it is larger than 65536 bytes/,
  );
});

test('a program that does not run here, or is another version, is not kept', async (t) => {
  for (const [content, why] of [
    ['this is no program\0', /does not run on this machine/],
    ['#!/bin/sh\nexit 3\n', /does not run on this machine/],
    ['#!/bin/sh\necho Xray 1.0.0\n', /is not version .* but reports .*Xray 1\.0\.0/],
  ] as const) {
    const zip = zipOf([{ name: 'xray', content }]);
    await refusedBecause(t, await look(t, { zip: sends(zip), dgst: sends(digestFile(sha256(zip))) }), why);
  }
});

test('a download that failed is made good by a build', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-go-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  // Says its version; builds by writing to the path behind -o.
  await writeFile(
    join(folder, 'go'),
    '#!/bin/sh\ncase "$1" in version) echo go version go1.26.8 linux/amd64;; build) echo built > "$6";; esac\n',
    {
      mode: 0o755,
    },
  );
  const { found, env, warnings } = await look(t, { zip: refuses(503), env: { PATH: folder } });
  t.deepEqual(found, { binary: keptCore(env), source: 'built' });
  t.is(warnings.length, 1);
  t.regex(warnings[0] ?? '', /building it, if Go.*the server answered 503/);
});

test('WEIR_ENGINE_INSTALL=off asks no server', async (t) => {
  const { found, asked } = await look(t, { config: { install: 'off' } });
  t.deepEqual(asked, []);
  t.regex('missing' in found ? found.missing : '', /WEIR_ENGINE_INSTALL=off/);
});

test('archives are named as the project names them', (t) => {
  const names = [
    ['linux', 'x64'],
    ['linux', 'ia32'],
    ['linux', 'arm64'],
    ['linux', 's390x'],
    ['darwin', 'x64'],
    ['darwin', 'arm64'],
    ['win32', 'x64'],
    ['freebsd', 'x64'],
  ].map(([platform = '', arch = '']) => assetOf({ platform, arch }));
  t.deepEqual(names, [
    'Xray-linux-64.zip',
    'Xray-linux-32.zip',
    'Xray-linux-arm64-v8a.zip',
    'Xray-linux-s390x.zip',
    'Xray-macos-64.zip',
    'Xray-macos-arm64-v8a.zip',
    'Xray-windows-64.zip',
    'Xray-freebsd-64.zip',
  ]);
  t.deepEqual(
    ['5', '6', '7'].map((armVersion) => assetOf({ platform: 'linux', arch: 'arm', armVersion })),
    ['Xray-linux-arm32-v5.zip', 'Xray-linux-arm32-v6.zip', 'Xray-linux-arm32-v7a.zip'],
  );
  t.deepEqual(
    [true, false].map((littleEndian) => assetOf({ platform: 'linux', arch: 'ppc64', littleEndian })),
    ['Xray-linux-ppc64le.zip', 'Xray-linux-ppc64.zip'],
  );
  t.deepEqual(
    [assetOf({ platform: 'sunos', arch: 'x64' }), assetOf({ platform: 'linux', arch: 'sparc' })],
    [undefined, undefined],
  );
});

test('a digest file is read as openssl has written it, now or before', (t) => {
  const digest = `${'c0ffee'.repeat(10)}abcd`;
  for (const line of [
    `SHA2-256= ${digest}`,
    `SHA256= ${digest}`,
    `SHA2-256(Xray-linux-64.zip)= ${digest.toUpperCase()}`,
  ])
    t.is(digestIn(`MD5= 1\r\n${line}\r\nSHA2-512= 2\r\n`), digest, line);
  for (const bad of [
    '',
    `SHA2-512= ${digest}${digest}`,
    `SHA2-256= ${digest}0`,
    `SHA2-256= ${digest.slice(1)}`,
    `SHA3-256= ${digest}`,
  ])
    t.is(digestIn(bad), undefined, bad);
});

// Installs of another core on a whole panel with a real one; the other version is the same core that says another name.
import test from 'ava';
import { accepts } from '../../engine/xray/test/traffic.js';
import { connect, engineBinary, engineOf, MIB, openServer } from '../../../test/engine/user.js';
import { freePort } from '../../../test/harness/api.js';
import { install, installAndReturn, installedOf, openWith, stepOf } from './installed-panel.js';
import { coreThatSays, ReleaseServer } from './release-server.js';

test('another version is installed and returned to, with every byte counted', async (t) => {
  const releases = await ReleaseServer.open(t);
  releases.add('26.4.1', coreThatSays('26.4.1', engineBinary()));
  await installAndReturn(t, releases, '26.4.1');
});

test('latest is the newest release that is no prerelease; a pinned digest is said; three versions are retained', async (t) => {
  const releases = await ReleaseServer.open(t);
  for (const version of ['26.4.1', '26.4.2', '26.10.1', '26.9.30'])
    releases.add(version, coreThatSays(version, engineBinary()), { prerelease: version === '26.10.1' });
  const panel = await openWith(t, releases);
  t.deepEqual(await panel.get('/panel/api/server/getEngineVersion'), [
    'v26.10.1',
    'v26.9.30',
    'v26.4.2',
    'v26.4.1',
  ]);
  t.is((await install(panel, 'latest')).body.obj.version, '26.9.30');
  await install(panel, '26.4.1');
  const { body } = await install(panel, '26.4.2');
  t.deepEqual(body.obj.removed, ['26.9.30'], 'not the version that Weir is tested with');
  const view = await installedOf(panel);
  t.like(view, { running: '26.4.2', chosen: '26.4.2', previous: '26.4.1' });
  t.deepEqual(
    view.installed.map(({ version }) => version),
    ['26.4.2', '26.4.1', '26.3.27'],
  );
  const wrong = await install(panel, '26.10.1', { sha256: '0'.repeat(64) });
  t.is(wrong.body.code, 'ENGINE_VERSIONS_ARCHIVE');
  t.regex(wrong.body.msg, /, but request says 0{64}$/);
});

const STARTS = `"run -c"*`;
/** Lines of a shell for the start of a core, not for its tests. */
const atStart = (lines: string): string => `case "$*" in ${STARTS}) ${lines};; esac`;
const atTest = (lines: string): string => `case "$*" in "run -test"*) ${lines};; esac`;

test('what cannot be used is refused with the reason, and the core serves on', async (t) => {
  const releases = await ReleaseServer.open(t);
  const says = (version: string, before = '') => coreThatSays(version, engineBinary(), before);
  const cases: [version: string, code: string, reason: RegExp, isTouched: boolean][] = [];
  const add = (
    code: string,
    reason: RegExp,
    isTouched: boolean,
    release: (version: string) => Parameters<ReleaseServer['add']>,
  ): void => {
    const version = `26.5.${cases.length + 1}`;
    releases.add(...release(version));
    cases.push([version, code, reason, isTouched]);
  };
  add('ARCHIVE', /has the SHA-256 .*, but http.* says 1{64}$/, false, (v) => [
    v,
    says(v),
    { digest: '1'.repeat(64) },
  ]);
  add('ARCHIVE', /\.dgst|names no SHA-256/, false, (v) => [v, says(v), { digest: 'nothing' }]);
  add('ARCHIVE', /cannot be downloaded: .*/, false, (v) => [
    v,
    says(v),
    { archive: (response) => void response.writeHead(200, { 'content-length': 900 }).end('cut') },
  ]);
  add('ARCHIVE', /cannot be downloaded: .*(?:maxBytes|larger|bytes)/, false, (v) => [
    v,
    says(v),
    { archive: (response) => void response.writeHead(200, { 'content-length': 1e9 }).write('x') },
  ]);
  add('ARCHIVE', /the archive gives no xray: it is larger than 157286400 bytes/, false, (v) => [
    v,
    says(v),
    { entry: { size: 3_000_000_000 } },
  ]);
  add('ARCHIVE', /the archive gives no xray: /, false, (v) => [
    v,
    Buffer.alloc(20_000_000),
    { entry: { method: 'deflated', size: 1000 } },
  ]);
  add('ARCHIVE', /the archive gives no xray: it is not there/, false, (v) => [
    v,
    says(v),
    { entry: { name: 'x' } },
  ]);
  add('ARCHIVE', /it is not a core that runs on this machine/, false, (v) => [v, 'no program\0']);
  add('ARCHIVE', /reports "something else/, false, (v) => [v, '#!/bin/sh\necho something else\n']);
  add('ARCHIVE', /it is core 26\.9\.9, not 26\.5\.10/, false, (v) => [
    v,
    coreThatSays('26.9.9', engineBinary()),
  ]);
  add('REFUSED', /it is not to my liking/, false, (v) => [
    v,
    says(
      v,
      atTest(
        'echo "Failed to start: main: failed to load config files: [x] > it is not to my liking"; exit 23',
      ),
    ),
  ]);
  add('REFUSED', /no core at a start/, true, (v) => [
    v,
    says(v, atStart('echo "Failed to start: no core at a start"; exit 23')),
  ]);
  add('FAILED', /it exited right after its start/, true, (v) => [
    v,
    says(v, atStart('(sleep 1; kill -9 $$) &')),
  ]);
  add('FAILED', /its API does not answer QueryStats/, true, (v) => [
    v,
    says(v, atStart('sed -i \'s/"StatsService"/"ReflectionService"/\' "$3"')),
  ]);
  const panel = await openWith(t, releases);
  const server = await openServer(t);
  const port = await freePort();
  await panel.addClient('ann', [await panel.addInbound({ port })]);
  const user = await connect(t, panel, 'ann', server);
  for (const [version, code, reason, isTouched] of cases) {
    const pid = await panel.corePid();
    const answer = await install(panel, version);
    t.is(answer.body.code, `ENGINE_VERSIONS_${code}`, `${version}: ${answer.text}`);
    t.regex(answer.body.msg, reason, version);
    t.is((await panel.corePid()) !== pid, isTouched, `${version}: ${answer.text}`);
    t.like(await engineOf(panel), { state: 'running', version: '26.3.27', errorMsg: '' }, version);
    t.true(await accepts(port), version);
    t.is(await user.download(MIB / 4), MIB / 4, version);
    t.is(await stepOf(panel), 'failed');
  }
  const view = await installedOf(panel);
  t.like(view, { running: '26.3.27', chosen: '' });
  t.deepEqual(
    view.installed.map(({ version }) => version),
    ['26.3.27'],
    'what does not serve is not retained',
  );
  t.deepEqual(panel.faults, []);
});

test('two installs at once: the second one is refused; a version that nobody released is named', async (t) => {
  const releases = await ReleaseServer.open(t);
  let go = (): void => undefined;
  releases.add('26.4.1', coreThatSays('26.4.1', engineBinary()), {
    archive: (response) => void (go = () => void response.destroy()),
  });
  const panel = await openWith(t, releases);
  const first = install(panel, '26.4.1');
  await panel.until(async () => (await stepOf(panel)) === 'download', 'the download has begun');
  const second = await install(panel, 'latest');
  t.is(second.body.code, 'ENGINE_VERSIONS_BUSY');
  t.regex(second.body.msg, /core 26\.4\.1 is being installed/);
  go();
  t.is((await first).body.code, 'ENGINE_VERSIONS_ARCHIVE');
  const unknown = await install(panel, 'v1.2.3');
  t.is(unknown.body.code, 'ENGINE_VERSIONS_UNKNOWN');
  t.is((await install(panel, 'newest')).status, 400);
});

// A killed panel, a killed test core, and outbounds that lead into the panel.
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { spawnPanel } from '../../../test/engine/user.js';
import { until } from '../../../test/harness/index.js';
import { API, configure, dead, farEnd, openTarget, openWorld, tagged } from './world.js';

const folderOf = (data: string): string => join(data, 'processes', 'outbounds', 'test');
async function pidIn(data: string): Promise<number | undefined> {
  const text = await readFile(join(folderOf(data), 'process.json'), 'utf8').catch(() => '');
  const [, pid] = /"pid":(\d+)/.exec(text) ?? [];
  return pid === undefined ? undefined : Number(pid);
}
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
async function testCorePid(data: string): Promise<number> {
  let pid: number | undefined;
  await until(async () => (pid = await pidIn(data)) !== undefined, 'the test core runs');
  return pid ?? 0;
}

test('kill -9 of the panel in the middle of a test: the next panel leaves no process and no file', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  let panel = await spawnPanel(t, { dataDirectory });
  const target = await openTarget(t, 30_000);
  await configure(panel, target.url);
  const works = await farEnd(panel);
  const asked = panel
    .call(`${API}/testOutbound`, { body: { outbound: tagged(works, 'slow') } })
    .catch(() => undefined);
  await until(() => target.count() > 0, 'the test fetches');
  const pid = await testCorePid(dataDirectory);
  t.false((await readdir(folderOf(dataDirectory))).includes('config.json'), 'keys are not on the disk');
  await panel.kill('SIGKILL');
  await asked;
  t.true(isAlive(pid));
  panel = await spawnPanel(t, { dataDirectory });
  await until(() => !isAlive(pid), 'the test core is gone');
  await until(async () => (await readdir(folderOf(dataDirectory))).length === 0, 'no file is left');
  await configure(panel, (await openTarget(t)).url);
  const { success } = await panel.get<{ success: boolean }>(`${API}/testOutbound`, {
    body: { outbound: JSON.stringify(tagged(works, 'again')), mode: 'real' },
  });
  t.true(success);
});

test('the test core is killed in the middle: what was not finished is tested again', async (t) => {
  const { panel, works, test: run, target } = await openWorld(t, 1000);
  const asked = run([tagged(works, 'a'), dead('dead'), tagged(works, 'b'), tagged(works, 'c')], {
    mode: 'real',
  });
  await until(() => target.count() >= 3, 'the test fetches');
  process.kill(await testCorePid(panel.dataDirectory), 'SIGKILL');
  const results = await asked;
  t.deepEqual(
    results.map(({ tag, success }) => [tag, success]),
    [
      ['a', true],
      ['dead', false],
      ['b', true],
      ['c', true],
    ],
    JSON.stringify(results),
  );
  t.deepEqual(await readdir(folderOf(panel.dataDirectory)), []);
});

test('an outbound must not lead into the panel, read files, or open connections for its server', async (t) => {
  const { panel, works, test: run } = await openWorld(t);
  const port = panel.kernel.listeners.panel.port;
  const stream = works['streamSettings'] as object;
  const [user] = (works['settings'] as { vnext: { users: object[] }[] }).vnext?.[0]?.users ?? [];
  const results = await run(
    [
      dead('panel', port),
      tagged(works, 'through the panel', { proxySettings: { tag: 'helper' } }),
      {
        ...works,
        tag: 'key log',
        streamSettings: { ...stream, security: 'tls', tlsSettings: { masterKeyLog: '/tmp/x' } },
      },
      {
        tag: 'reverse',
        protocol: 'vless',
        settings: { vnext: [{ address: '127.0.0.1', port: 9, users: [{ ...user, Reverse: { tag: 'r' } }] }] },
      },
      { tag: 'circle', protocol: 'socks', settings: {}, proxySettings: { tag: 'circle' } },
      {
        tag: 'nowhere',
        protocol: 'socks',
        settings: {},
        StreamSettings: { sockOpt: { DialerProxy: 'gone' } },
      },
    ],
    { allOutbounds: JSON.stringify([dead('helper', port)]) },
  );
  t.deepEqual(
    results.map(({ success }) => success),
    Array(6).fill(false),
  );
  const errors = results.map(({ error = '' }) => error);
  for (const [at, expected] of [
    /panel/,
    /outbound helper: .*panel/,
    /masterKeyLog/i,
    /settings\.reverse/,
    /circle/,
    /DialerProxy: no outbound has the tag "gone"/,
  ].entries())
    t.regex(errors[at] ?? '', expected);
});

test('mode tcp dials servers, and fetches through what it cannot dial', async (t) => {
  const { works, test: run } = await openWorld(t);
  const results = await run(
    [tagged(works, 'works'), dead('dead'), tagged(works, 'chained', { proxySettings: { tag: 'works' } })],
    { mode: 'tcp' },
  );
  t.like(results[0], { success: true, mode: 'tcp' });
  t.is(results[0]?.endpoints?.length, 1);
  t.like(results[1], {
    success: false,
    mode: 'tcp',
    endpoints: [{ address: '127.0.0.1:9', success: false }],
  });
  t.like(results[2], { success: true, mode: 'http', httpStatus: 204 });
});

test('the schedule tests the outbounds of the config', async (t) => {
  const { panel, works, target } = await openWorld(t);
  await configure(panel, target.url, (template) => ({
    ...template,
    outbounds: [...template.outbounds, tagged(works, 'works'), dead('dead')],
  }));
  const job = () => panel.call('/panel/api/system/jobs/outbounds/watch', { method: 'POST' });
  const health = () => panel.get<{ tag: string; up: boolean }[]>('/panel/api/x/outbounds/health');
  await job();
  t.deepEqual(await health(), [], 'off by default');
  await panel.get('/panel/api/setting/update', {
    body: { outboundTestMinutes: 1, outboundDownThreshold: 1 },
  });
  await job();
  t.deepEqual(
    (await health()).map(({ tag, up }) => [tag, up]),
    [
      ['works', true],
      ['dead', false],
    ],
  );
  t.truthy(panel.log.find(({ msg }) => msg === 'an outbound is down'));
});

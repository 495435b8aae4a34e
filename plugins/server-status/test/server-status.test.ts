import { readFile } from 'node:fs/promises';
import { cpus, uptime } from 'node:os';
import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { sourceRoot } from '../../../test/harness/source-root.js';
import type { Static } from '../../../kernel/index.js';
import type { StatusReply } from '../status.js';

type Status = Static<typeof StatusReply>;

test('shows this machine and the current state of the core', async (t) => {
  const engine = new FakeEngine();
  await using panel = await TestPanel.boot({ plugins: [engine.plugin] });
  const status = await panel.get<Status>('/panel/api/server/status');
  for (const { current, total } of [status.mem, status.disk]) t.true(current > 0 && current <= total);
  t.deepEqual(status.loads, [status.load.load1, status.load.load5, status.load.load15]);
  t.is(status.logicalPro, cpus().length);
  t.true(status.cpuCores >= 1 && status.cpuCores <= status.logicalPro);
  t.true(status.uptime > 0 && status.uptime <= uptime());
  t.true(status.tcpCount > 0);
  t.is(status.engine.state, 'running');
  engine.running = false;
  t.is((await panel.get<Status>('/panel/api/server/status')).engine.state, 'stop');
});

test('counts bytes and packets since the machine started, and in each second', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const { netTraffic, netIO, diskTraffic, diskIO } = await panel.get<Status>('/panel/api/server/status');
  t.deepEqual(Object.keys(netTraffic).sort(), ['pktRecv', 'pktSent', 'recv', 'sent']);
  t.deepEqual(Object.keys(netIO).sort(), ['down', 'pktDown', 'pktUp', 'up']);
  t.true(netTraffic.recv >= netTraffic.pktRecv && netTraffic.sent >= netTraffic.pktSent);
  for (const figure of [...Object.values(diskTraffic), ...Object.values(diskIO)])
    t.true(Number.isSafeInteger(figure) && figure >= 0);
});

test('shows the panel itself: threads, memory, version and guid', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const first = await panel.get<Status>('/panel/api/server/status');
  t.true(first.appStats.threads > 1);
  t.true(first.appStats.mem > 10_000_000);
  const { version } = JSON.parse(
    await readFile(new URL('package.json', await sourceRoot()), 'utf8'),
  ) as Status['engine'];
  t.is(first.panelVersion, version);
  t.regex(first.panelGuid, /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/);
  t.is((await panel.get<Status>('/panel/api/server/status')).panelGuid, first.panelGuid);
});

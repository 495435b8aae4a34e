import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { CoreUnreachable, type JsonObject, type OutboundHealth } from '../../driver.js';
import type { XrayDriver } from '../xray-driver.js';
import {
  base,
  driverIn,
  emptyRecord,
  eventually,
  temporaryDirectory,
  temporaryDriver,
  vlessInbound,
} from './harness.js';
import { freePort } from './traffic.js';

const ANSWER = 2000;

/** Answers every probe with 204. */
async function probeTarget(t: ExecutionContext): Promise<string> {
  const server = createServer((_, reply) => void reply.writeHead(204).end()).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** A base with an outbound that works, and one that leads to a closed port. */
const observed = async (section: JsonObject): Promise<JsonObject> => ({
  outbounds: [
    { tag: 'up', protocol: 'freedom' },
    {
      tag: 'down',
      protocol: 'socks',
      settings: { servers: [{ address: '127.0.0.1', port: await freePort() }] },
    },
    { tag: 'unobserved', protocol: 'freedom' },
  ],
  ...section,
});

async function probesOf(driver: XrayDriver): Promise<readonly OutboundHealth[]> {
  let found: readonly OutboundHealth[] = [];
  await eventually(async () => {
    found = (await driver.monitor.outbounds(ANSWER)) ?? [];
    return found.length === 2;
  }, 'both outbounds were probed');
  return [...found].sort((a, b) => (a.tag < b.tag ? -1 : 1));
}

test('figures of the runtime, and no probes without an observatory', async (t) => {
  const directory = await temporaryDirectory(t);
  const driver = driverIn(t, directory);
  await t.throwsAsync(driver.monitor.figures(ANSWER), { instanceOf: CoreUnreachable });
  t.notThrows(() => driver.monitor.reconnect());
  await driver.start(base, [{ ...vlessInbound('v', await freePort()), users: [] }], emptyRecord);
  const figures = await driver.monitor.figures(ANSWER);
  t.true(figures.heapBytes > 1_000_000 && figures.heapBytes < figures.systemBytes, JSON.stringify(figures));
  t.true(figures.systemBytes < 200 << 20);
  t.true(figures.liveObjects > 1000 && figures.goroutines > 1);
  t.true(figures.collections > 0 && figures.pausedNs > 0);
  t.true(figures.uptime < 60);
  t.is(await driver.monitor.outbounds(ANSWER), undefined);
  const { api } = JSON.parse(await readFile(join(directory, 'config.json'), 'utf8')) as {
    api: { services: string[] };
  };
  t.deepEqual(api.services, ['HandlerService', 'StatsService', 'RoutingService', 'LoggerService']);
});

test('an observatory says which outbounds work', async (t) => {
  const driver = await temporaryDriver(t);
  const observatory = {
    subjectSelector: ['up', 'down'],
    probeUrl: await probeTarget(t),
    probeInterval: '1s',
    enableConcurrency: true,
  };
  const config = await observed({ observatory });
  await driver.test(config, []);
  const began = Math.floor(Date.now() / 1000);
  await driver.start(config, [], emptyRecord);
  const [down, up] = await probesOf(driver);
  t.like(up, { tag: 'up', alive: true, lastError: '' });
  t.true(up !== undefined && up.delay >= 0 && up.delay < 5000);
  t.true(up !== undefined && up.lastSeen >= began && up.lastTry >= up.lastSeen);
  t.like(down, { tag: 'down', alive: false, lastSeen: 0 });
  t.true(down !== undefined && down.lastTry >= began);
  t.true(down !== undefined && down.lastError.length > 0 && down.lastError.length <= 500);
});

test('so does a burst observatory', async (t) => {
  const driver = await temporaryDriver(t);
  const pingConfig = {
    destination: await probeTarget(t),
    interval: '1s',
    sampling: 2,
    timeout: '1s',
    httpMethod: 'GET',
  };
  await driver.start(
    await observed({ burstObservatory: { subjectSelector: ['up', 'down'], pingConfig } }),
    [],
    emptyRecord,
  );
  const [down, up] = await probesOf(driver);
  t.like(up, { tag: 'up', alive: true });
  t.like(down, { tag: 'down', alive: false });
});

test('a section that is null is none', async (t) => {
  const driver = await temporaryDriver(t);
  await driver.start({ ...base, observatory: null, burstObservatory: null }, [], emptyRecord);
  t.is(await driver.monitor.outbounds(ANSWER), undefined);
});

test('a core that is held gives no answer in time; killed, it is reported, and the next one starts', async (t) => {
  const driver = await temporaryDriver(t);
  const reasons: string[] = [];
  driver.onExit((reason) => reasons.push(reason));
  const { pid } = await driver.start(base, [], emptyRecord);
  process.kill(pid, 'SIGSTOP');
  const began = performance.now();
  await t.throwsAsync(driver.monitor.figures(300), { instanceOf: CoreUnreachable });
  t.true(performance.now() - began < 2000);
  process.kill(pid, 'SIGCONT');
  t.true((await driver.monitor.figures(ANSWER)).goroutines > 1, 'the connection still works');
  process.kill(pid, 'SIGSTOP');
  const waiting = driver.counters('');
  await driver.monitor.kill();
  await t.throwsAsync(
    waiting,
    { instanceOf: CoreUnreachable },
    'a call under way does not wait for its limit',
  );
  await eventually(() => reasons.length > 0, 'the exit is reported');
  await driver.start(base, [], emptyRecord);
  t.is(reasons.length, 1);
});

test('another connection is opened after the last one was given up', async (t) => {
  const driver = await temporaryDriver(t);
  const { pid } = await driver.start(base, [], emptyRecord);
  process.kill(pid, 'SIGSTOP');
  const waiting = driver.counters('');
  driver.monitor.reconnect();
  await t.throwsAsync(waiting, { instanceOf: CoreUnreachable });
  process.kill(pid, 'SIGCONT');
  t.deepEqual(await driver.counters(''), []);
  t.true((await driver.monitor.figures(ANSWER)).uptime < 60);
});

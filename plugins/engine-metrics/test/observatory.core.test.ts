// The probes of a real core, from its observatory to the reply.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { Monitor } from '../../engine/life/monitor.js';
import type { Supervisor } from '../../engine/life/supervisor.js';
import { emptyRecord, eventually, temporaryDriver } from '../../engine/xray/test/harness.js';
import { freePort } from '../../engine/xray/test/traffic.js';
import { Observatory } from '../observatory.js';
import { RuntimeMetrics } from '../runtime-metrics.js';
import type { EngineApi } from '../../engine/contract.js';
import { createLog } from '../../../panel/log.js';

test('a working and a broken outbound are observed, until the core is gone', async (t) => {
  const target = createServer((_, reply) => void reply.writeHead(204).end()).listen(0, '127.0.0.1');
  t.teardown(() => target.close());
  await once(target, 'listening');
  const driver = await temporaryDriver(t);
  const closed = { address: '127.0.0.1', port: await freePort() };
  const base = {
    outbounds: [
      { tag: 'up', protocol: 'freedom' },
      { tag: 'down', protocol: 'socks', settings: { servers: [closed] } },
    ],
    observatory: {
      subjectSelector: ['up', 'down'],
      probeUrl: `http://127.0.0.1:${(target.address() as AddressInfo).port}/`,
      probeInterval: '1s',
      enableConcurrency: true,
    },
  };
  const process = await driver.start(base, [], emptyRecord);
  const of = { running: true };
  const supervisor = {
    watched: () => ({
      process: of.running ? process : undefined,
      monitor: driver.monitor,
      state: { answers: true },
    }),
  } as unknown as Pick<Supervisor, 'watched'>;
  const monitor = new Monitor({ supervisor });
  const engine = { status: () => ({ state: 'running' }) } as unknown as EngineApi;
  const runtime = new RuntimeMetrics({ engine, monitor, series: undefined });
  const clock = { now: () => Date.now(), every: () => () => undefined };
  const log = createLog({ level: 'error', readable: true, write: () => undefined });
  const observatory = new Observatory({ monitor, series: undefined, clock, log });

  await eventually(async () => {
    await observatory.sample(await runtime.sample());
    return observatory.observed().length === 2;
  }, 'both were probed');
  const now = Date.now() / 1000;
  const [down, up] = observatory.observed();
  t.like(down, { tag: 'down', alive: false, delay: 99_999_999, lastSeenTime: 0 });
  t.like(up, { tag: 'up', alive: true, lastError: '' });
  t.true(up !== undefined && Math.abs(up.lastTryTime - now) < 30 && Math.abs(up.updatedAt - now) < 30);
  t.true(down !== undefined && down.lastError !== '');
  t.like(runtime.state(), { enabled: true });
  of.running = false;
  await observatory.sample(await runtime.sample());
  t.deepEqual(observatory.observed(), []);
});

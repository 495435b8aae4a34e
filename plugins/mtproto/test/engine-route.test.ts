// The way of an inbound through the core: nobody else on this machine can use it.
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { Inbound } from '../../inbounds/contract.js';
import { EngineRoute } from '../engine-route.js';

const inbound = (settings: object): Inbound => ({ id: 3, tag: 'in-443', settings }) as unknown as Inbound;
const ROUTED = inbound({ routeThroughEngine: true, routeEnginePort: 5000, outboundTag: 'way-out' });

test('the core gets an inbound with a password that only the program knows', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  await mkdir(join(dataDirectory, 'sidecars'));
  const route = new EngineRoute({ dataDirectory });
  await route.open();
  const [first, second] = route.partsFor(ROUTED) as { inbound?: { config: object }; rule?: object }[];
  const [, password = ''] =
    /^socks5:\/\/mtproto:([0-9a-f]{64})@127\.0\.0\.1:5000$/.exec(route.proxyFor(ROUTED) ?? '') ?? [];
  t.not(password, '');
  t.like(first?.inbound?.config, {
    listen: '127.0.0.1',
    port: 5000,
    settings: { auth: 'password', accounts: [{ user: 'mtproto', pass: password }], udp: false },
  });
  t.deepEqual(second?.rule, { type: 'field', inboundTag: ['in-443'], outboundTag: 'way-out' });
  t.not(route.proxyFor({ ...ROUTED, id: 4 }), route.proxyFor(ROUTED), 'each inbound has its own');
  const path = join(dataDirectory, 'sidecars', 'mtproto-route.key');
  t.is((await stat(path)).mode & 0o777, 0o600);

  const next = new EngineRoute({ dataDirectory });
  await next.open();
  t.is(next.proxyFor(ROUTED), route.proxyFor(ROUTED), 'it stays over restarts');
  await writeFile(path, 'damaged');
  const other = new EngineRoute({ dataDirectory });
  await other.open();
  t.not(other.proxyFor(ROUTED), route.proxyFor(ROUTED));
});

test('an inbound that is not routed has no part of the core', async (t) => {
  const route = new EngineRoute({ dataDirectory: '/nowhere' });
  for (const settings of [
    {},
    { routeThroughEngine: false, routeEnginePort: 5000 },
    { routeThroughEngine: true, routeEnginePort: 0 },
    { routeThroughEngine: true },
  ]) {
    t.is(route.proxyFor(inbound(settings)), undefined);
    t.deepEqual(route.partsFor(inbound(settings)), []);
  }
});

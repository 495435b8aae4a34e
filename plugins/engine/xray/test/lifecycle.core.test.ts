import test from 'ava';
import { readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { CoreRefused, CoreUnreachable, type CoreProcess } from '../../driver.js';
import { commandLine, identify, isAlive } from '../../../processes/identity.js';
import { XrayDriver } from '../xray-driver.js';
import {
  accountsOf,
  base,
  driverIn,
  emptyRecord,
  engineBinary,
  eventually,
  holdPort,
  processes,
  quiet,
  temporaryDirectory,
  temporaryDriver,
  vlessInbound,
  vlessOutbound,
  vlessUser,
} from './harness.js';
import { download, freePort, startByteServer, startClientCore } from './traffic.js';

const orphan = new URL('./orphan.js', import.meta.url).pathname;

test('the version of the program', async (t) => {
  t.regex(await (await temporaryDriver(t)).version(), /^\d+\.\d+\.\d+$/);
});

test('a core starts, answers, stops and starts again', async (t) => {
  const directory = await temporaryDirectory(t);
  const driver = driverIn(t, directory);
  let ends = 0;
  driver.onExit(() => (ends += 1));
  const inbound = { ...vlessInbound('v', await freePort()), users: [vlessUser('i1.c1')] };
  const first = await driver.start(base, [inbound], emptyRecord);
  t.true(Math.abs(Date.now() - first.startedAt) < 60_000);
  t.deepEqual(await driver.counters(''), []);
  t.is((await stat(join(directory, 'config.json'))).mode & 0o777, 0o600);
  t.is((await stat(join(directory, 'core.json'))).mode & 0o777, 0o600);
  t.is((await stat(join(directory, 'api.sock'))).mode & 0o777, 0o600);
  t.is((await stat(directory)).mode & 0o777, 0o700);
  await t.throwsAsync(driver.start(base, [inbound], emptyRecord), { message: /runs in .* already/ });
  await driver.stop();
  t.is(identify(first.pid), undefined);
  await t.throwsAsync(driver.counters(''), { instanceOf: CoreUnreachable });
  const second = await driver.start(base, [inbound], emptyRecord);
  t.not(second.epoch, first.epoch);
  t.deepEqual(await driver.users('v'), inbound.users);
  t.is(ends, 0);
});

test('a config the core refuses names culprit and cause, in the test and at the start', async (t) => {
  const directory = await temporaryDirectory(t);
  const driver = driverIn(t, directory);
  const inbound = vlessInbound('in-bad', await freePort());
  const bad = { ...inbound, config: { ...inbound.config, streamSettings: { network: 'foo' } } };
  const expected = { instanceOf: CoreRefused, message: /inbound in-bad: .*unknown transport protocol: foo/ };
  await t.throwsAsync(driver.test(base, [bad]), expected);
  await t.throwsAsync(driver.start(base, [{ ...bad, users: [] }], emptyRecord), expected);
  await t.notThrowsAsync(driver.test(base, [inbound]));
  await t.throwsAsync(driver.test({ outbounds: [{ protocol: 'freedoom', tag: 'o1' }] }, []), {
    instanceOf: CoreRefused,
    message: 'outbound o1: unknown config id: freedoom',
  });
  await t.notThrowsAsync(driver.start(base, [{ ...inbound, users: [] }], emptyRecord));
});

test('inbounds that contradict themselves or take our tag are refused', async (t) => {
  const driver = await temporaryDriver(t);
  const inbound = vlessInbound('v', await freePort());
  await t.throwsAsync(driver.test(base, [{ ...inbound, tag: 'w' }]), { instanceOf: CoreRefused });
  await t.throwsAsync(driver.test(base, [{ ...inbound, protocol: 'trojan' }]), { instanceOf: CoreRefused });
  await t.throwsAsync(driver.test(base, [inbound, inbound]), {
    instanceOf: CoreRefused,
    message: /two inbounds/,
  });
  await t.throwsAsync(driver.test(base, [vlessInbound('weir.api', await freePort())]), {
    instanceOf: CoreRefused,
  });
  await t.throwsAsync(driver.test({ ...base, inbounds: [] }, []), { instanceOf: CoreRefused });
});

test('a start on a port of another program is refused with the reason and works once the port is free', async (t) => {
  const driver = await temporaryDriver(t);
  const inbound = { ...vlessInbound('v', await freePort()), users: [] };
  const other = vlessInbound('w', await freePort());
  const holder = await holdPort(t, Number(inbound.config['port']));
  let ends = 0;
  driver.onExit(() => (ends += 1));
  for (let i = 0; i < 5; i += 1)
    await t.throwsAsync(driver.start(base, [{ ...other, users: [] }, inbound], emptyRecord), {
      instanceOf: CoreRefused,
      message: /address already in use/,
    });
  holder.close();
  await once(holder, 'close');
  await driver.start(base, [inbound], emptyRecord);
  t.is(ends, 0);
});

test('an inbound is put hot; on a port of another program it is refused and a retry works', async (t) => {
  const driver = await temporaryDriver(t);
  await driver.start(base, [], emptyRecord);
  const user = vlessUser('i1.c1');
  const inbound = { ...vlessInbound('v', await freePort()), users: [user] };
  const holder = await holdPort(t, Number(inbound.config['port']));
  await t.throwsAsync(driver.putInbound(inbound), {
    instanceOf: CoreRefused,
    message: /address already in use/,
  });
  await t.throwsAsync(driver.users('v'), { instanceOf: CoreRefused });
  holder.close();
  await once(holder, 'close');
  await driver.putInbound(inbound);
  await driver.putInbound(inbound);
  t.deepEqual(await driver.users('v'), [user]);
  const bad = { ...inbound, config: { ...inbound.config, streamSettings: { network: 'foo' } } };
  await t.throwsAsync(driver.putInbound(bad), { instanceOf: CoreRefused, message: /foo/ });
  t.deepEqual(
    await driver.users('v'),
    [user],
    'a config that cannot be converted leaves the old inbound alone',
  );
});

test('a directory too long for a socket', async (t) => {
  const driver = driverIn(t, join(await temporaryDirectory(t), 'x'.repeat(120)));
  await driver.start(base, [{ ...vlessInbound('v', await freePort()), users: [] }], emptyRecord);
  t.deepEqual(await driver.users('v'), []);
  await driver.stop();
  await driver.start(base, [], emptyRecord);
});

test('a directory with a comma and a space', async (t) => {
  const driver = driverIn(t, join(await temporaryDirectory(t), 'a, b'));
  await driver.start(base, [{ ...vlessInbound('v', await freePort()), users: [] }], emptyRecord);
  t.deepEqual(await driver.users('v'), []);
});

test('a program that is not there', async (t) => {
  const directory = await temporaryDirectory(t);
  const driver = new XrayDriver({
    binary: '/nowhere/xray',
    directory,
    log: quiet,
    accounts: accountsOf(),
    processes,
  });
  await t.throwsAsync(driver.version(), { instanceOf: CoreUnreachable, message: /\/nowhere\/xray/ });
  await t.throwsAsync(driver.start(base, [], emptyRecord), {
    instanceOf: CoreUnreachable,
    message: /\/nowhere\/xray/,
  });
});

test('a child that is killed is reported once, and a new one starts', async (t) => {
  const driver = await temporaryDriver(t);
  const reasons: string[] = [];
  driver.onExit((reason) => reasons.push(reason));
  const { pid } = await driver.start(base, [], emptyRecord);
  process.kill(pid, 'SIGKILL');
  await eventually(() => reasons.length > 0, 'onExit of a child');
  t.regex(reasons[0] ?? '', /SIGKILL/);
  await t.throwsAsync(driver.counters(''), { instanceOf: CoreUnreachable });
  t.is(await driver.adopt(), undefined);
  await driver.start(base, [], emptyRecord);
  t.is(reasons.length, 1);
});

test('logs over their limit are cut, and the older part is private', async (t) => {
  const directory = await temporaryDirectory(t);
  const driver = driverIn(t, directory);
  await driver.start(base, [], emptyRecord);
  await truncate(join(directory, 'access.log'), 17 * 1024 * 1024);
  await truncate(join(directory, 'error.log'), 1024);
  await driver.trimLogs({ maxBytes: 16 * 1024 * 1024, keep: 1 });
  t.is((await stat(join(directory, 'access.log'))).size, 0);
  const older = await stat(join(directory, 'access.log.1'));
  t.deepEqual([older.size, older.mode & 0o777], [17 * 1024 * 1024, 0o600]);
  t.is((await stat(join(directory, 'error.log'))).size, 1024);
});

test('followers of a real core receive each connection once over cuts of its log, and after a kill in the middle of one', async (t) => {
  const directory = await temporaryDirectory(t);
  const driver = driverIn(t, directory);
  const port = await freePort();
  const user = vlessUser('i1.c1');
  await driver.start(base, [{ ...vlessInbound('v', port), users: [user] }], emptyRecord);
  const server = await startByteServer();
  t.teardown(() => server.stop());
  const client = await startClientCore({ binary: engineBinary(), outbound: vlessOutbound(port, user) });
  t.teardown(() => client.stop());
  const seen: number[] = [];
  const follow = (from: typeof driver) =>
    from.readConnections((batch) => void seen.push(...batch.map((one) => one.port)));
  const log = join(directory, 'access.log');
  for (let i = 1; i <= 6; i++) {
    const before = (await stat(log)).size;
    await download({ socksPort: client.socksPort, server, bytes: 1000 });
    await eventually(async () => (await stat(log)).size > before, 'the connection is in the log');
    // Less than a line.
    await driver.trimLogs({ maxBytes: 90, keep: 3 });
    t.is((await stat(log)).size, 0);
    if (i % 2 === 0) await follow(driver);
  }
  t.is(seen.length, 6);
  t.is(new Set(seen).size, 6);
  // The panel is killed after the truncation and before the copy has its name.
  driver.detach();
  await rename(`${log}.1`, `${log}.cut-0`);
  const next = driverIn(t, directory);
  await next.adopt();
  seen.length = 0;
  await follow(next);
  t.is(seen.length, 1, 'the part that was cut off last');
  const lines: string[] = [];
  await next.readLog(({ from }) => lines.push(from) > 0);
  t.is(new Set(lines).size, 3);
});

test('nothing to adopt: no record, a broken one, a dead process, a foreign process', async (t) => {
  const directory = await temporaryDirectory(t);
  const driver = driverIn(t, directory);
  t.is(await driver.adopt(), undefined);
  await driver.start(base, [], emptyRecord);
  const text = await readFile(join(directory, 'core.json'), 'utf8');
  await driver.stop();
  await writeFile(join(directory, 'core.json'), '{"identity":');
  t.is(await driver.adopt(), undefined);
  await writeFile(join(directory, 'core.json'), text);
  await writeFile(join(directory, 'api.sock'), '');
  t.is(await driver.adopt(), undefined);
  await t.throwsAsync(stat(join(directory, 'api.sock')), { code: 'ENOENT' });
  await writeFile(
    join(directory, 'core.json'),
    JSON.stringify({ ...(JSON.parse(text) as object), identity: identify(process.ppid) }),
  );
  t.is(await driver.adopt(), undefined);
  await rm(join(directory, 'core.json'));
});

test('a core outlives a panel killed with kill -9, is adopted with its counters, and its end is reported', async (t) => {
  const directory = await temporaryDirectory(t);
  const user = vlessUser('i1.c1');
  const port = await freePort();
  const inbounds = [{ ...vlessInbound('v', port), users: [user] }];
  const digests = { ...emptyRecord, base: 'b', inbounds: { v: 'digest' } };
  const panel = spawn(process.execPath, [orphan, directory, JSON.stringify([inbounds, digests])], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, WEIR_ENGINE_BIN: engineBinary() },
  });
  t.teardown(() => panel.kill('SIGKILL'));
  const [line] = (await once(createInterface(panel.stdout), 'line')) as [string];
  const started = JSON.parse(line) as CoreProcess;

  const server = await startByteServer();
  t.teardown(() => server.stop());
  const client = await startClientCore({ binary: engineBinary(), outbound: vlessOutbound(port, user) });
  t.teardown(() => client.stop());
  const bytes = 1_000_000;
  t.is(await download({ socksPort: client.socksPort, server, bytes }), bytes);
  panel.kill('SIGKILL');
  await once(panel, 'exit');

  const driver = driverIn(t, directory);
  const reasons: string[] = [];
  driver.onExit((reason) => reasons.push(reason));
  t.deepEqual(await driver.adopt(), { process: started, digests });
  const [counter] = await driver.counters('i1.');
  t.is(counter?.name, 'i1.c1');
  t.true((counter?.down ?? 0) >= bytes);
  t.deepEqual(await driver.users('v'), [user]);
  await driver.putUser('v', vlessUser('i1.c2'));
  await t.throwsAsync(
    driver.putUser('v', { name: 'i1.c3', account: { protocol: 'trojan', password: 'p' } }),
    { instanceOf: CoreRefused },
  );
  t.is(await download({ socksPort: client.socksPort, server, bytes }), bytes, 'the core still serves');

  const next = { ...emptyRecord, base: 'b', inbounds: { v: 'other' } };
  await driver.remember(next);
  driver.detach();
  t.deepEqual((await driver.adopt())?.digests, next);

  process.kill(started.pid, 'SIGKILL');
  await eventually(() => reasons.length > 0, 'onExit of an adopted core');
  t.is(reasons.length, 1);
  await driver.start(base, inbounds, digests);
  t.deepEqual(await driver.users('v'), [user]);
});

test('an adopted core is stopped like a child', async (t) => {
  const directory = await temporaryDirectory(t);
  const first = driverIn(t, directory);
  const { pid } = await first.start(base, [], emptyRecord);
  first.detach();
  const second = driverIn(t, directory);
  let ends = 0;
  second.onExit(() => (ends += 1));
  t.is((await second.adopt())?.process.pid, pid);
  await second.stop();
  t.falsy(isAlive(identify(pid) ?? { pid, startTicks: '', bootId: '' }));
  t.is(await second.adopt(), undefined);
  t.is(ends, 0);
});

test('a previous core that does not answer is killed and not adopted', async (t) => {
  const directory = await temporaryDirectory(t);
  const first = driverIn(t, directory);
  const { pid } = await first.start(base, [], emptyRecord);
  first.detach();
  process.kill(pid, 'SIGSTOP');
  const second = driverIn(t, directory);
  t.is(await second.adopt(), undefined);
  t.falsy(isAlive(identify(pid) ?? { pid, startTicks: '', bootId: '' }));
  await second.start(base, [], emptyRecord);
});

test('a core that no record names is ended, and its place is taken', async (t) => {
  const directory = await temporaryDirectory(t);
  const first = driverIn(t, directory);
  const stray = await first.start(base, [], emptyRecord);
  first.detach();
  await rm(join(directory, 'core.json'));
  const second = driverIn(t, directory);
  t.is(await second.adopt(), undefined);
  const next = await second.start(base, [], emptyRecord);
  t.not(next.pid, stray.pid);
  t.falsy(identify(stray.pid) && (await commandLine(stray.pid)).length > 0);
  t.deepEqual(await second.counters(''), []);
});

// Runs nftables.
// What a killed panel left of an inbound, or of a plugin, that is gone: the next panel removes it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { invariants } from '../../../test/harness/invariants.js';
import { testUnless } from '../../../test/harness/left-out.js';
import { until } from '../../../test/harness/until.js';
import { whyNoTables } from '../../amneziawg/test/needs.js';
import { isTableName, removeTables } from '../nft-tables.js';
import { World } from './world.js';

const testTables = testUnless(await whyNoTables());
const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

test('a plugin that is off after a restart: its program ends, and neither its files nor its record stay', async (t) => {
  const world = await World.open();
  await world.reaches(/^running$/);
  const { panel, inboundId } = world;
  const { pid } = await world.status();
  const { dataDirectory } = panel;
  const folder = join(dataDirectory, 'processes', 'sidecars', `tuic-in-${inboundId}`);
  const record = join(dataDirectory, 'sidecars', 'tuic', `in-${inboundId}.json`);
  t.true(await exists(record));
  // As when a plugin is disabled: another panel follows at once.
  await panel.kernel.stop('restart', true);
  await panel.stop();
  t.notThrows(() => process.kill(pid, 0), 'it goes on for the next panel');
  await using next = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    clock: new FakeClock(),
    dataDirectory,
  });
  await until(async () => !(await exists(record)), 'the record is removed');
  t.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  t.false((await readdir(folder)).includes('users.json'));
  t.deepEqual(next.faults, []);
});

test('the next panel keeps what its own instances need', async (t) => {
  const world = await World.open();
  await world.reaches(/^running$/);
  const { ports, pid } = await world.status();
  const { dataDirectory } = world.panel;
  const stray = join(dataDirectory, 'sidecars', 'tuic', 'in-77.json');
  await writeFile(stray, '{"not": "a record"}');
  await mkdir(join(dataDirectory, 'sidecars', 'other'));
  await writeFile(join(dataDirectory, 'sidecars', 'other', '..json'), '');
  await world.panel.kernel.stop('restart', true);
  await using again = await world.reopened();
  await again.reaches(/^running$/);
  await until(async () => !(await exists(stray)), 'the record of nobody is removed');
  t.like(await again.status(), { ports, pid });
  t.true(await exists(join(dataDirectory, 'sidecars', 'other', '..json')), 'no name of an instance');
});

testTables('tables of nftables are removed by name, and only tables of a panel', async (t) => {
  for (const name of ['weir_ab12_awg1', 'weir_x']) t.true(isTableName(name));
  for (const name of [
    'filter',
    'weir_',
    'weir_a b',
    'weir_a;flush ruleset',
    'weir_a\n',
    `weir_${'a'.repeat(41)}`,
    7,
  ])
    t.false(isTableName(name));
  // In a network of its own: the test runs this file's module in a namespace.
  const module = new URL('../nft-tables.js', import.meta.url).href;
  const script = `
    import { execFileSync } from 'node:child_process';
    import { removeTables } from ${JSON.stringify(module)};
    const nft = (...args) => execFileSync('nft', args, { env: { PATH: '/usr/sbin:/sbin:/usr/bin:/bin' } }).toString();
    for (const name of ['filter', 'weir_a_awg1', 'weir_b_awg1']) nft('add', 'table', 'inet', name);
    await removeTables(['filter', 'weir_a_awg1', 'weir_gone']);
    process.stdout.write(nft('list', 'tables'));
  `;
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'in-namespace.mjs'), script);
  const child = spawn('unshare', ['--net', process.execPath, join(folder, 'in-namespace.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(child, 'close');
  t.deepEqual(text.trim().split('\n').sort(), ['table inet filter', 'table inet weir_b_awg1']);
  await t.notThrowsAsync(removeTables(['filter']));
});

test('a check compares the users of programs with those of the database', async (t) => {
  const checks = invariants();
  await using world = await World.open({ plugins: [checks.plugin] });
  await world.reaches(/^running$/);
  const { panel, inboundId } = world;
  const { id: ann } = await panel.addClient('ann', [inboundId]);
  const { id: bob } = await panel.addClient('bob', [inboundId]);
  t.deepEqual(await checks.broken(), []);
  await world.call('/forget', `i${inboundId}.c${ann}`);
  await world.call('/remember', `i${inboundId}.c77`);
  const found = (await checks.run()).find(({ name }) => name.startsWith('programs beside the core'));
  t.deepEqual(
    [...(found?.found ?? [])].sort(),
    [
      `tuic/in-${inboundId}: user i${inboundId}.c77 is in the program, and must not be`,
      `tuic/in-${inboundId}: user i${inboundId}.c${ann} is not in the program`,
    ].sort(),
  );
  t.true(bob > 0);
});

test('a check says of a program that reads its users when it starts whether it has them', async (t) => {
  const checks = invariants();
  await using world = await World.open({ plugins: [checks.plugin], mode: () => 'files' });
  await world.reaches(/^running$/);
  await world.panel.addClient('ann', [world.inboundId]);
  await world.reaches(/^running$/);
  // The restart after the first one is due in some seconds.
  const { body } = await world.panel.call('/panel/api/clients/add', {
    body: { client: { email: 'bob' }, inboundIds: [world.inboundId] },
  });
  t.regex(body.msg, /reads its users when it starts/);
  const [line = ''] = await checks.broken();
  t.regex(line, /it was not started with the users that it should have/);
});

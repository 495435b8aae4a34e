import test from 'ava';
import { onlyOn } from '../../../test/harness/left-out.js';
import { goBack, switchRelease } from '../switch-release.js';
import { FakeMachine } from './fake-machine.js';

const OPTIONS = { withoutBackup: false };
const FAILED = { code: 1, said: '', complained: 'it is broken\n' };
// It reads /proc.
const onLinux = onlyOn(process.platform === 'linux', 'Linux', test);

onLinux('checks, backs up, switches, and waits until the new release works', async (t) => {
  const machine = await FakeMachine.make(t, { '2.0.0': { migrates: ['0002'] } });
  t.is(await switchRelease(machine, '2.0.0', OPTIONS), 0);
  t.deepEqual(machine.events, [
    '2.0.0 check --copy',
    '1.0.0 health',
    '1.0.0 backup',
    'unit of 2.0.0',
    'start 2.0.0',
    '2.0.0 health',
  ]);
  t.is(await machine.installation.current(), '2.0.0');
  t.is(await machine.installation.previous(), '1.0.0');
  t.like(await machine.installation.record('upgraded.json'), { from: '1.0.0', to: '2.0.0', state: 'done' });
  t.is(await switchRelease(machine, '2.0.0', OPTIONS), 0, 'again');
  t.regex(machine.said.at(-1) ?? '', /is installed already and works/);
});

onLinux('changes nothing when the new release would not start', async (t) => {
  const machine = await FakeMachine.make(t, { '2.0.0': { check: FAILED } });
  t.is(await switchRelease(machine, '2.0.0', OPTIONS), 1);
  t.deepEqual(machine.events, ['2.0.0 check --copy', '1.0.0 check']);
  t.is(await machine.installation.current(), '1.0.0');
});

onLinux('does not start an older release on the database of a newer one', async (t) => {
  const said =
    'note         a newer release has migrated the database; this one does not know: clients/0099\n';
  const machine = await FakeMachine.make(t, { '2.0.0': { check: { code: 0, said, complained: '' } } });
  t.is(await switchRelease(machine, '2.0.0', OPTIONS), 1);
  t.deepEqual(machine.events, ['2.0.0 check --copy']);
  t.regex(machine.complained.join(), /does not know: clients\/0099; `weir rollback`/);
});

onLinux('goes on when the running release has the same problems', async (t) => {
  const machine = await FakeMachine.make(t, { '1.0.0': { check: FAILED }, '2.0.0': { check: FAILED } });
  t.is(await switchRelease(machine, '2.0.0', OPTIONS), 0);
});

onLinux('changes nothing when the backup fails, unless none is wanted', async (t) => {
  const machine = await FakeMachine.make(t, { '1.0.0': { backup: FAILED } });
  t.is(await switchRelease(machine, '2.0.0', OPTIONS), 1);
  t.regex(machine.complained.join(), /nothing was changed: the backup failed: it is broken/);
  t.is(await machine.installation.current(), '1.0.0');
  t.is(await switchRelease(machine, '2.0.0', { withoutBackup: true }), 0);
});

for (const [what, behaviour, problem] of [
  ['exits', { exits: true }, /it said why/],
  ['cannot be started', { refuses: true }, /systemctl restart weir failed/],
  ['exits after it worked', { dies: true }, /it said why/],
  ['is not the one that answers', { lingers: true }, /the panel does not start \(after 1 s\)/],
  ['hangs', { hangs: true }, /weir health was killed by SIGKILL \(after 1 s\)/],
  ['has a unit that cannot be written', { noUnit: true }, /no space left/],
  ['answers no health check', { health: FAILED }, /it is broken \(after 1 s\)/],
  [
    'starts without a plugin',
    { health: { code: 0, said: 'plugin audit does not run: no table\n', complained: '' } },
    /audit \(no table\)/,
  ],
] as const)
  onLinux(`goes back when the new release ${what}`, async (t) => {
    const machine = await FakeMachine.make(t, { '2.0.0': { ...behaviour, migrates: ['0002'] } });
    const before = machine.database;
    t.is(await switchRelease(machine, '2.0.0', OPTIONS), 1);
    t.regex(machine.complained.join(), problem);
    const ran = !['refuses', 'noUnit', 'lingers'].some((name) => name in behaviour);
    t.deepEqual(machine.events.slice(ran ? -5 : -4), [
      'leave',
      ...(ran ? ['put back'] : []),
      'unit of 1.0.0',
      'start 1.0.0',
      '1.0.0 health',
    ]);
    t.is(await machine.installation.current(), '1.0.0');
    t.deepEqual(machine.database, before);
    t.like(await machine.installation.record('upgrade.json'), { state: 'failed' });
  });

onLinux('leaves the database alone when no migration ran', async (t) => {
  const machine = await FakeMachine.make(t, { '2.0.0': { exits: true } });
  t.is(await switchRelease(machine, '2.0.0', OPTIONS), 1);
  t.false(machine.events.includes('put back'));
});

onLinux('a plugin that did not run before is no reason to go back', async (t) => {
  const health = { code: 0, said: 'plugin acme does not run: it is old\n', complained: '' };
  const machine = await FakeMachine.make(t, { '1.0.0': { health }, '2.0.0': { health } });
  t.is(await switchRelease(machine, '2.0.0', OPTIONS), 0);
});

onLinux('continues an upgrade that was killed, and can still go back to the first release', async (t) => {
  const machine = await FakeMachine.make(t, { '2.0.0': { exits: true, migrates: ['0002'] } });
  const before = machine.database;
  const { installation, service } = machine;
  await installation.write('upgrade.json', {
    ...{ at: Date.now(), state: 'under way', from: '1.0.0', to: '2.0.0', backup: '/b', applied: before },
    ...{ notRunning: [], problem: '' },
  });
  await installation.link('current', '2.0.0');
  await service.restart();
  machine.events.length = 0;
  t.is(await switchRelease(machine, '2.0.0', OPTIONS), 1);
  t.is(await installation.current(), '1.0.0');
  t.deepEqual(machine.database, before);
});

onLinux('restarts the panel when the upgrade was killed before it did', async (t) => {
  const machine = await FakeMachine.make(t);
  const { installation, database: applied } = machine;
  await installation.write('upgrade.json', {
    ...{ at: Date.now(), state: 'under way', from: '1.0.0', to: '2.0.0', backup: '/b', applied },
    ...{ notRunning: [], problem: '' },
  });
  await installation.link('current', '2.0.0');
  t.is(await switchRelease(machine, '2.0.0', OPTIONS), 0);
  t.deepEqual(machine.events, ['unit of 2.0.0', 'start 2.0.0', '2.0.0 health']);
});

onLinux('does not start the previous release on a migrated database', async (t) => {
  const noCopy = await FakeMachine.make(t, { '2.0.0': { exits: true, migrates: ['0002'] } });
  noCopy.hasCopy = false;
  await t.throwsAsync(switchRelease(noCopy, '2.0.0', OPTIONS), {
    message: /no copy of the database of before/,
  });
  t.is(noCopy.events.at(-1), 'leave');
  const server = await FakeMachine.make(t, { '2.0.0': { exits: true, migrates: ['0002'] } }, false);
  await t.throwsAsync(switchRelease(server, '2.0.0', OPTIONS), {
    message: /weir restore \/backups\/weir\.db/,
  });
  t.is(server.events.at(-1), 'leave');
});

onLinux('starts the previous release although neither unit nor record can be written', async (t) => {
  const machine = await FakeMachine.make(t, { '1.0.0': { noUnit: true }, '2.0.0': { exits: true } });
  machine.installation.write = async (name, record) => {
    if (record.state === 'failed') throw new Error(`${name} cannot be written`);
  };
  t.is(await switchRelease(machine, '2.0.0', OPTIONS), 1);
  t.true(machine.events.includes('start 1.0.0'));
  t.regex(machine.complained.join(), /no space left on device,upgrade\.json cannot be written/);
  t.is(machine.said.at(-1), 'Weir 1.0.0 is back and works');
});

onLinux('says what to do when the database cannot be put back, and can do it later', async (t) => {
  const machine = await FakeMachine.make(t, { '2.0.0': { exits: true, migrates: ['0002'] } });
  const before = machine.database;
  machine.isFull = true;
  await t.throwsAsync(switchRelease(machine, '2.0.0', OPTIONS), {
    message: /no space left on device; the panel is stopped.*run the same command again/,
  });
  t.is(machine.events.at(-1), 'leave', 'the previous release does not get the migrated database');
  machine.isFull = false;
  t.is(await switchRelease(machine, '2.0.0', OPTIONS), 1);
  t.is(await machine.installation.current(), '1.0.0');
  t.deepEqual(machine.database, before);
});

onLinux('says when the previous release does not work either', async (t) => {
  const machine = await FakeMachine.make(t);
  t.is(await switchRelease(machine, '2.0.0', OPTIONS), 0);
  machine.behaviours['1.0.0'] = { exits: true };
  const record = await machine.installation.record('upgraded.json');
  if (!record) return t.fail('there is no record');
  await t.throwsAsync(goBack(machine, record), {
    message: /1\.0\.0 is back, but does not work either: it said why/,
  });
});

onLinux('removes releases but the current and the previous one', async (t) => {
  const machine = await FakeMachine.make(t);
  t.is(await switchRelease(machine, '2.0.0', OPTIONS), 0);
  t.deepEqual(await machine.installation.prune(['2.0.0']), ['1.0.0']);
  t.deepEqual(await machine.installation.releases(), ['2.0.0']);
});

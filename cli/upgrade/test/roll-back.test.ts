import test from 'ava';
import { onlyOn } from '../../../test/harness/left-out.js';
import { rollBack } from '../roll-back.js';
import { switchRelease } from '../switch-release.js';
import { FakeMachine } from './fake-machine.js';

// It reads /proc.
const onLinux = onlyOn(process.platform === 'linux', 'Linux', test);
const OPTIONS = { withoutBackup: false };

onLinux('goes back once, and says then that there is nothing to go back from', async (t) => {
  const machine = await FakeMachine.make(t);
  t.is(await rollBack(machine, false), 1);
  t.regex(machine.complained.join(), /there is no upgrade to 1\.0\.0 to go back from/);
  t.is(await switchRelease(machine, '2.0.0', OPTIONS), 0);
  t.is(await rollBack(machine, false), 0);
  t.is(await machine.installation.current(), '1.0.0');
  t.is(await rollBack(machine, false), 1);
});

onLinux('puts a database back only on request', async (t) => {
  const machine = await FakeMachine.make(t, { '2.0.0': { migrates: ['0002'] } });
  const before = machine.database;
  t.is(await switchRelease(machine, '2.0.0', OPTIONS), 0);
  machine.events.length = 0;
  t.is(await rollBack(machine, false), 1);
  t.deepEqual(machine.events, [], 'nothing was changed');
  t.regex(machine.complained.join(), /With --database/);
  t.is(await rollBack(machine, true), 0);
  t.deepEqual(machine.database, before);
});

onLinux(
  'finishes a rollback that was killed before the restart, and leaves the database alone',
  async (t) => {
    const machine = await FakeMachine.make(t, { '2.0.0': { migrates: ['0002'] } });
    t.is(await switchRelease(machine, '2.0.0', OPTIONS), 0);
    await machine.service.leave();
    await machine.installation.link('current', '1.0.0');
    machine.events.length = 0;
    t.is(await rollBack(machine, true), 0);
    t.deepEqual(machine.events, ['leave', 'unit of 1.0.0', 'start 1.0.0', '1.0.0 health']);
    t.is(await machine.installation.record('upgraded.json'), undefined);
  },
);

onLinux('names the way out of an interrupted upgrade, and a release that is gone', async (t) => {
  const machine = await FakeMachine.make(t);
  const { installation } = machine;
  t.is(await switchRelease(machine, '2.0.0', OPTIONS), 0);
  const record = await installation.record('upgraded.json');
  if (!record) return t.fail('there is no record');
  await installation.forget('upgraded.json');
  await installation.write('upgrade.json', { ...record, state: 'under way' });
  t.is(await rollBack(machine, false), 1);
  t.regex(machine.complained.at(-1) ?? '', /`weir upgrade --release 2\.0\.0` finishes it/);
  await installation.write('upgraded.json', record);
  await installation.prune(['2.0.0']);
  t.is(await rollBack(machine, false), 1);
  t.regex(machine.complained.at(-1) ?? '', /1\.0\.0 is not in .*any more/);
});

// Plugins may keep the running core as it is, and none can keep the others from its stop.
import test from 'ava';
import { Refusal, tap } from '../../../kernel/index.js';
import { beforeCoreReload, beforeCoreStop, beforeCountersGo } from '../contract.js';
import { World } from './world.js';

interface Asked {
  readonly reason: string;
  readonly plan: string;
  readonly changes: object;
}

async function boot() {
  const world = new World();
  const asked: Asked[] = [];
  const house = { quiet: false };
  world.tap(
    tap(beforeCoreReload, (reload) => {
      asked.push(reload);
      if (house.quiet) throw new Refusal('no changes before midnight');
    }),
  );
  world.inbound(1, { 1: 'a' });
  await world.open();
  world.driver.news();
  return { world, asked, house };
}

test('guards get the changes of a hot change and a restart, and are not called where nothing changes', async (t) => {
  const { world, asked } = await boot();
  t.deepEqual(asked, [], 'a core that does not run is started without a question');
  await world.supervisor.reconcileConfig();
  t.deepEqual(asked, []);
  world.inbound(2);
  world.inbounds.delete(1);
  await world.supervisor.reconcileConfig();
  world.outbounds.push({ tag: 'far', protocol: 'freedom' });
  await world.supervisor.reconcileConfig();
  world.parts.push({ section: 'policy', value: { levels: {} } });
  await world.supervisor.reconcileConfig();
  await world.supervisor.restart('an admin restarts it');
  t.deepEqual(asked, [
    {
      reason: 'inbounds changed',
      plan: 'hot',
      changes: { base: false, put: ['in-2'], remove: ['in-1'] },
    },
    { reason: 'the config changed', plan: 'hot', changes: { base: true, put: [], remove: [] } },
    {
      reason: 'a change of the config needs a restart',
      plan: 'restart',
      changes: { base: true, put: [], remove: [] },
    },
    { reason: 'an admin restarts it', plan: 'restart', changes: { base: false, put: [], remove: [] } },
  ]);
});

test('a refusal keeps the current config, is shown in the status, and is asked again until no guard refuses', async (t) => {
  const { world, asked, house } = await boot();
  house.quiet = true;
  world.inbound(2);
  const sentence = 'the core keeps its config for now: no changes before midnight';
  t.deepEqual(await world.supervisor.reconcileConfig(), { pending: true, reason: sentence });
  t.deepEqual(world.driver.news(), []);
  t.like(world.supervisor.status(), { state: 'running', errorMsg: sentence });
  await t.throwsAsync(world.supervisor.restart('an admin restarts it'), { message: sentence });
  world.outbounds.push({ tag: 'far', protocol: 'freedom' });
  await world.supervisor.retryPending();
  t.deepEqual(
    world.driver.news().filter((call) => call !== 'test'),
    [],
    'neither put nor restarted',
  );
  t.is(asked.length, 3);
  t.is(world.said('a plugin refused a change of the config'), 1);
  // Users are not part of it.
  world.users.set('i1.c2', 'b');
  await world.supervisor.reconcileUsers([{ inboundId: 1, clientId: 2 }]);
  t.deepEqual(world.driver.names('in-1'), ['i1.c1', 'i1.c2']);

  house.quiet = false;
  await world.supervisor.retryPending();
  t.deepEqual(Object.keys(world.driver.core?.digests.inbounds ?? {}).sort(), ['in-1', 'in-2']);
  t.is(world.supervisor.status().errorMsg, '');
});

test('a tap that refuses the stop of the core, or fails, prevents no last poll', async (t) => {
  const { world } = await boot();
  const polls: string[] = [];
  const refuse = () => {
    throw new Refusal('not now');
  };
  const crash = () => {
    throw new Error('no');
  };
  for (const fn of [refuse, crash]) {
    world.tap(tap(beforeCoreStop, fn, { stage: -100, strict: true }));
    world.tap(tap(beforeCountersGo, fn, { stage: -100, strict: true }));
  }
  world.tap(tap(beforeCoreStop, () => void polls.push('last poll')));
  world.tap(tap(beforeCountersGo, () => void polls.push('last counters')));
  await world.supervisor.stop('the panel stops');
  t.deepEqual(polls, ['last poll', 'last counters']);
  t.is(world.state, 'stop');
});

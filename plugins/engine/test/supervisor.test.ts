import test from 'ava';
import { account, World } from './world.js';

const user = (inboundId: number, clientId: number) => ({ inboundId, clientId });

test('a fresh core is started with all inbounds and users in one go', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a', 2: 'b' });
  world.inbound(2);
  await world.open();
  t.deepEqual(world.driver.news(), ['start in-1 in-2']);
  t.deepEqual(world.driver.names('in-1'), ['i1.c1', 'i1.c2']);
  t.like(world.supervisor.status(), { state: 'running', errorMsg: '', version: '1.2.3' });
});

test('a user changed while the core starts is not lost', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a', 2: 'b' });
  let openGate = (): void => undefined;
  world.driver.gate = new Promise((resolve) => (openGate = resolve));
  const opened = world.open();
  await world.until(() => world.driver.starts.length === 1, 'the start is under way');
  world.users.delete('i1.c1');
  world.users.set('i1.c3', 'c');
  const applied = await world.supervisor.reconcileUsers([user(1, 1), user(1, 3)]);
  t.true(applied.pending, 'the core cannot have it yet');
  openGate();
  await opened;
  t.deepEqual(world.driver.names('in-1'), ['i1.c2', 'i1.c3']);
});

test('an inbound added while the core starts is put when it runs', async (t) => {
  const world = new World();
  world.inbound(1);
  let openGate = (): void => undefined;
  world.driver.gate = new Promise((resolve) => (openGate = resolve));
  const opened = world.open();
  await world.until(() => world.driver.starts.length === 1, 'the start is under way');
  world.inbound(2, { 1: 'a' });
  const applied = world.supervisor.reconcileConfig();
  openGate();
  await opened;
  t.deepEqual(await applied, { pending: false, reason: '' });
  t.deepEqual(world.driver.names('in-2'), ['i2.c1']);
  t.is(world.driver.starts.length, 1);
});

test('inbounds come, change and go while the same core runs', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  world.inbound(2, { 1: 'a' });
  await world.open();
  world.driver.news();
  world.inbound(2, {}, 4444);
  world.inbound(3, { 1: 'a' });
  world.inbounds.delete(1);
  await world.supervisor.reconcileConfig();
  t.deepEqual(world.driver.news(), ['removeInbound in-1', 'putInbound in-2', 'putInbound in-3']);
  t.is(world.driver.core?.inbounds.get('in-2')?.config['port'], 4444);
  t.deepEqual(Object.keys(world.driver.core?.digests.inbounds ?? {}).sort(), ['in-2', 'in-3']);
  await world.supervisor.reconcileConfig();
  t.deepEqual(world.driver.news(), [], 'nothing differs any more');
});

test('one refused inbound keeps no other out, is named, and is put as soon as it is taken', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  world.inbound(2, { 1: 'a' });
  world.driver.refuses.set('in-1', 'address already in use');
  await world.open();
  t.is(world.state, 'running');
  t.deepEqual(world.driver.names('in-2'), ['i2.c1']);
  t.is(world.driver.names('in-1'), undefined);
  t.is(world.supervisor.status().errorMsg, 'in-1: address already in use');
  await world.supervisor.retryPending();
  await world.supervisor.retryPending();
  t.is(world.said('the core rejected an inbound'), 1, 'one refusal is one line in the log');
  world.driver.refuses.clear();
  await world.supervisor.retryPending();
  t.deepEqual(world.driver.names('in-1'), ['i1.c1']);
  t.is(world.supervisor.status().errorMsg, '');
});

test('an inbound whose change was refused is put again when the change is taken back', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  await world.open();
  const before = world.inbounds.get(1);
  world.driver.news();
  world.driver.refuses.set('in-1', 'address already in use');
  world.inbound(1, {}, 4444);
  await world.supervisor.reconcileConfig();
  t.deepEqual(world.driver.news(), ['putInbound in-1']);
  world.driver.refuses.clear();
  if (before) world.inbounds.set(1, before);
  await world.supervisor.reconcileConfig();
  t.deepEqual(world.driver.news(), ['putInbound in-1'], 'what the core has of it is unknown');
});

test('a change of an inbound that got no answer is pending and retried, with those behind it', async (t) => {
  const world = new World();
  await world.open();
  world.inbound(1, { 1: 'a' });
  world.inbound(2, { 1: 'a' });
  world.driver.silent.set('putInbound', 1);
  const applied = await world.supervisor.reconcileConfig();
  t.true(applied.pending);
  t.regex(applied.reason, /no answer/);
  t.is(world.state, 'running');
  await world.supervisor.retryPending();
  t.deepEqual([world.driver.names('in-1'), world.driver.names('in-2')], [['i1.c1'], ['i2.c1']]);
});

test('a failure to compose the config leaves the core as it is and is retried', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  await world.open();
  world.trouble = new Error('a plugin stumbled');
  t.true((await world.supervisor.reconcileConfig()).pending);
  t.deepEqual(world.driver.names('in-1'), ['i1.c1']);
  world.trouble = undefined;
  world.inbound(2);
  await world.supervisor.retryPending();
  t.deepEqual(world.driver.names('in-2'), []);
});

const policy = { section: 'policy', value: { levels: {} } } as const;

test('outbounds and rules change while the same core runs, after a test-run', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  await world.open();
  world.driver.news();
  world.outbounds.push({ tag: 'other', protocol: 'freedom' });
  world.parts.push({ rule: { type: 'field', port: '25', outboundTag: 'other' } });
  t.deepEqual(await world.supervisor.reconcileConfig(), { pending: false, reason: '' });
  t.deepEqual(world.driver.news(), ['test', 'changeBase +other rules']);
  await world.supervisor.reconcileConfig();
  t.deepEqual(world.driver.news(), [], 'nothing differs any more');
  world.outbounds.length = 0;
  world.parts.length = 0;
  await world.supervisor.reconcileConfig();
  t.deepEqual(world.driver.news(), ['test', 'changeBase -other rules']);
  t.is(world.driver.starts.length, 1);
});

test('an outbound that the running core rejects changes nothing, and is tried with the next change', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  await world.open();
  const before = world.driver.core?.digests;
  world.driver.refuses.set('other', 'no such address');
  world.outbounds.push({ tag: 'other', protocol: 'freedom' });
  t.like(await world.supervisor.reconcileConfig(), { pending: true, reason: 'no such address' });
  t.is(world.supervisor.status().errorMsg, 'no such address');
  t.deepEqual(world.driver.core?.digests, before);
  world.driver.refuses.clear();
  t.deepEqual(await world.supervisor.reconcileConfig(), { pending: false, reason: '' });
  t.is(world.supervisor.status().errorMsg, '');
});

test('a change of outbounds whose answer is lost is made again', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  await world.open();
  world.driver.silent.set('changeBase', 1);
  world.outbounds.push({ tag: 'other', protocol: 'freedom' });
  t.true((await world.supervisor.reconcileConfig()).pending);
  t.is(world.driver.core?.digests.outbounds['other'], '', 'the next panel makes it again too');
  world.driver.news();
  await world.supervisor.retryPending();
  t.deepEqual(world.driver.news(), ['test', 'changeBase +other']);
});

test('what is too large for a running core comes with a restart', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  await world.open();
  world.driver.news();
  world.driver.needsRestart = true;
  world.outbounds.push({ tag: 'other', protocol: 'freedom' });
  await world.supervisor.reconcileConfig();
  t.deepEqual(world.driver.news(), [
    'test',
    'changeBase +other',
    'removeInbound in-1',
    'counters',
    'stop',
    'start in-1',
  ]);
});

test('changes that need a restart and come in a burst cost one restart, and a second one later', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  await world.open();
  world.parts.push(policy);
  t.false((await world.supervisor.reconcileConfig()).pending);
  t.is(world.driver.starts.length, 2);
  world.parts.push({ section: 'observatory', value: {} });
  const { pending, reason } = await world.supervisor.reconcileConfig();
  t.true(pending);
  t.regex(reason, /needs a restart .* follows in \d+ s/);
  world.parts.pop();
  t.false((await world.supervisor.reconcileConfig()).pending, 'what runs is wanted again');
  t.is(world.driver.starts.length, 2);
});

test('a change of the rest of the config restarts the core after a test-run and a last poll', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  await world.open();
  const first = world.driver.core?.process.pid;
  world.driver.news();
  world.parts.push(policy);
  t.deepEqual(await world.supervisor.reconcileConfig(), { pending: false, reason: '' });
  t.deepEqual(world.driver.news(), ['test', 'removeInbound in-1', 'counters', 'stop', 'start in-1']);
  t.deepEqual(world.stops, ['alive'], 'the core still answered when its counters were asked for');
  t.not(world.driver.core?.process.pid, first);
  t.is(world.state, 'running');
});

test('a base that the core rejects keeps the running core, which still accepts inbounds and users', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  await world.open();
  const first = world.driver.core?.process.pid;
  world.driver.refusesOutbound = 'bad';
  world.outbounds.push({ tag: 'bad', protocol: 'freedom' });
  world.inbound(2);
  const applied = await world.supervisor.reconcileConfig();
  t.deepEqual(applied, { pending: true, reason: 'outbound bad: refused', rejected: true });
  t.is(world.driver.core?.process.pid, first);
  t.is(world.supervisor.status().errorMsg, 'outbound bad: refused');
  world.users.set('i2.c1', 'a');
  t.deepEqual(await world.supervisor.reconcileUsers([user(2, 1)]), { pending: false, reason: '' });
  t.deepEqual(world.driver.names('in-2'), ['i2.c1']);
  world.outbounds.pop();
  t.deepEqual(await world.supervisor.reconcileConfig(), { pending: false, reason: '' });
  t.is(world.supervisor.status().errorMsg, '');
  t.is(world.driver.core?.process.pid, first, 'the previous base is back, so nothing had to be restarted');
});

test('a restart that fails is tried again', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  await world.open();
  world.parts.push(policy);
  world.driver.silent.set('start', 1);
  t.true((await world.supervisor.reconcileConfig()).pending);
  t.is(world.state, 'error');
  t.regex(world.supervisor.status().errorMsg, /no answer/);
  await world.until(() => world.state === 'running', 'the core is started again');
  t.deepEqual(world.driver.names('in-1'), ['i1.c1']);
});

test('a core that crashes is restarted, again after a failed attempt', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  await world.open();
  const epoch = (await world.supervisor.counters())?.epoch;
  world.driver.silent.set('start', 1);
  world.driver.die('killed by SIGKILL');
  t.like(world.supervisor.status(), { state: 'error', errorMsg: 'killed by SIGKILL', startedAt: 0 });
  t.is(await world.supervisor.counters(), undefined);
  world.users.set('i1.c2', 'b');
  t.regex((await world.supervisor.reconcileUsers([user(1, 2)])).reason, /killed by SIGKILL/);
  await world.until(() => world.state === 'running', 'the core is back');
  t.is(world.driver.starts.length, 3, 'a failed attempt, and one more');
  t.deepEqual(world.driver.names('in-1'), ['i1.c1', 'i1.c2'], 'what changed meanwhile is there');
  t.not((await world.supervisor.counters())?.epoch, epoch);
});

test('a stop polls first, stops the core and does not restart it', async (t) => {
  const world = new World();
  await world.open();
  world.driver.silent.set('start', 9);
  world.driver.die('killed');
  await world.supervisor.stop('end');
  const tries = world.driver.starts.length;
  t.is(world.state, 'stop');
  t.deepEqual(world.stops, [], 'a core that is gone has nothing to tell');
  await new Promise((resolve) => setTimeout(resolve, 1500));
  t.is(world.driver.starts.length, tries);

  const healthy = new World();
  await healthy.open();
  await healthy.supervisor.stop('end');
  t.deepEqual(healthy.stops, ['alive']);
  t.deepEqual(healthy.driver.news(), ['start', 'counters', 'stop']);
});

test('a program that is no core leaves a panel that says so, objects to nothing, and is asked again', async (t) => {
  const world = new World();
  world.driver.silent.set('version', 1);
  await world.open();
  t.like(world.supervisor.status(), { state: 'error', errorMsg: 'this is no core', version: '' });
  await t.notThrowsAsync(world.supervisor.examine({ tag: 'x', protocol: 'vless', config: {} }));
  t.regex((await world.supervisor.reconcileUsers([user(1, 1)])).reason, /this is no core/);
  await world.until(() => world.state === 'running', 'the program was replaced by a core');
});

test('counters of names that are not ours are left out', async (t) => {
  const world = new World();
  await world.open();
  t.deepEqual((await world.supervisor.counters())?.users, [{ inboundId: 1, clientId: 1, up: 1, down: 2 }]);
  const { users, outbounds } = (await world.supervisor.counters('outbounds')) ?? {};
  t.deepEqual([users, outbounds], [[], [{ tag: 'direct', up: 5, down: 6 }]], "without the panel's own");
});

test('an adopted core gets only what differs', async (t) => {
  const first = new World();
  for (const id of [1, 2, 3]) first.inbound(id, { 1: 'a', 2: 'b' });
  await first.open();
  const driver = first.leaveCore();
  driver.news();

  const second = new World(driver);
  second.inbound(1, { 1: 'a', 2: 'b' });
  second.inbound(2, { 1: 'other', 3: 'c' });
  second.inbound(4, { 1: 'a' });
  await second.open();
  const calls = driver.news();
  t.deepEqual(
    calls.filter((call) => !call.startsWith('users')).sort(),
    ['putInbound in-4', 'putUser i2.c1', 'putUser i2.c3', 'removeInbound in-3', 'removeUser i2.c2'].sort(),
  );
  t.deepEqual(driver.core?.inbounds.get('in-2')?.users.get('i2.c1')?.account, account('other'));
  t.deepEqual(
    [driver.names('in-1'), driver.names('in-2'), driver.names('in-3'), driver.names('in-4')],
    [['i1.c1', 'i1.c2'], ['i2.c1', 'i2.c3'], undefined, ['i4.c1']],
  );
  t.is(driver.starts.length, 1);
});

test('an adopted core that stops answering in the middle is caught up with, users included', async (t) => {
  const first = new World();
  first.inbound(1, { 1: 'a', 2: 'b' });
  await first.open();
  const driver = first.leaveCore();

  const second = new World(driver);
  second.inbound(1, { 1: 'a' });
  second.inbound(2, { 1: 'a' });
  driver.silent.set('putInbound', 1);
  await second.open();
  t.is(second.state, 'running');
  await second.supervisor.retryPending();
  t.deepEqual([driver.names('in-1'), driver.names('in-2')], [['i1.c1'], ['i2.c1']]);
  t.is(driver.starts.length, 1);
});

test('an adopted core that rejects the new base keeps running, with its users up to date', async (t) => {
  const first = new World();
  first.inbound(1, { 1: 'a', 2: 'b' });
  await first.open();
  const driver = first.leaveCore();

  const second = new World(driver);
  second.inbound(1, { 1: 'a' });
  second.outbounds.push({ tag: 'bad', protocol: 'freedom' });
  driver.refusesOutbound = 'bad';
  await second.open();
  t.like(second.supervisor.status(), { state: 'running', errorMsg: 'outbound bad: refused' });
  t.deepEqual(driver.names('in-1'), ['i1.c1']);
  t.is(driver.starts.length, 1);
});

test('a restart whose config the core refuses leaves the running core as it is', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  await world.open();
  const { core } = world.driver;
  world.driver.refuses.set('in-1', 'bad port');
  await t.throwsAsync(world.supervisor.restart('a test'), { message: 'bad port' });
  t.is(world.driver.core, core);
  t.is(world.supervisor.status().state, 'running');
  world.driver.refuses.clear();
  await world.supervisor.restart('a test');
  t.not(world.driver.core, core);
  t.deepEqual(world.stops, ['alive']);
});

test('a stopped core is started without the inbound that it refuses', async (t) => {
  const world = new World();
  world.inbound(1);
  world.inbound(2);
  await world.open();
  await world.supervisor.stop('an admin stopped it');
  world.driver.refuses.set('in-1', 'bad port');
  await world.supervisor.restart('a test');
  t.is(world.supervisor.status().state, 'running');
  t.deepEqual([...(world.driver.core?.inbounds.keys() ?? [])], ['in-2']);
});

test('a core that an admin stopped stays stopped until it is started again', async (t) => {
  const world = new World();
  world.inbound(1);
  await world.open();
  await world.supervisor.stop('an admin stopped it');
  await world.supervisor.retryPending();
  t.true((await world.supervisor.reconcileConfig()).pending);
  t.is(world.driver.core, undefined);
  await world.supervisor.restart('a test');
  t.is(world.supervisor.status().state, 'running');
});

test('a replaced inbound is put again with its users, and no other', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  world.inbound(2);
  await world.open();
  world.driver.news();
  await world.supervisor.replaceInbound(1);
  t.deepEqual(world.driver.news(), ['putInbound in-1']);
  t.deepEqual(world.driver.names('in-1'), ['i1.c1']);
});

// Outbounds, rules and balancers of a real core change while a user's download goes on.
import test, { type ExecutionContext } from 'ava';
import { baseConfig } from '../../config/base-config.js';
import { baseDifference, planOf } from '../../config/plan.js';
import type { CorePart } from '../../contract.js';
import { type BaseChange, type CoreBase, CoreRefused, type JsonObject, NeedsRestart } from '../../driver.js';
import type { XrayDriver } from '../xray-driver.js';
import {
  emptyRecord,
  engineBinary,
  temporaryDriver,
  vlessInbound,
  vlessOutbound,
  vlessUser,
} from './harness.js';
import { type ByteServer, download, freePort, startByteServer, startClientCore } from './traffic.js';

const open = { private: 'allow', udp: 'single' } as const;
const planWith = (parts: readonly CorePart[]) =>
  planOf(
    parts.map((entry) => ({ plugin: 'test', entry })),
    open,
    () => undefined,
  );
const toPort = (port: number, target: JsonObject): CorePart => ({
  rule: { type: 'field', port: String(port), ...target },
});
const nowhere = { outboundTag: 'blocked' };

interface Panel {
  readonly driver: XrayDriver;
  readonly near: ByteServer;
  readonly far: ByteServer;
  readonly base: () => CoreBase;
  /** Makes the running core run these parts; resolves with what was changed. */
  readonly run: (...parts: CorePart[]) => Promise<BaseChange | 'none' | 'restart'>;
  readonly reaches: (server: ByteServer) => Promise<boolean>;
  readonly socksPort: number;
}

async function boot(t: ExecutionContext, ...parts: CorePart[]): Promise<Panel> {
  const driver = await temporaryDriver(t);
  let plan = planWith(parts);
  const port = await freePort();
  const user = vlessUser('i1.c1');
  await driver.start(plan.base, [{ ...vlessInbound('v', port), users: [user] }], emptyRecord);
  const client = await startClientCore({ binary: engineBinary(), outbound: vlessOutbound(port, user) });
  t.teardown(() => client.stop());
  const [near, far] = [await startByteServer(), await startByteServer()];
  t.teardown(() => near.stop());
  t.teardown(() => far.stop());
  return {
    driver,
    near,
    far,
    socksPort: client.socksPort,
    base: () => plan.base,
    run: async (...next) => {
      const wanted = planWith(next);
      const change = baseDifference(wanted, plan.digests);
      if (typeof change === 'object') await driver.changeBase(wanted.base, change);
      plan = wanted;
      return change;
    },
    reaches: (server) =>
      download({ socksPort: client.socksPort, server, bytes: 1000 }).then(
        (bytes) => bytes === 1000,
        () => false,
      ),
  };
}

/** What the core runs is what was planned, in that order. */
async function runsAsPlanned(t: ExecutionContext, { driver, base }: Panel): Promise<void> {
  const { ruleTags, outbounds } = await driver.running();
  const planned = base() as unknown as {
    routing: { rules: { ruleTag: string }[] };
    outbounds: { tag: string }[];
  };
  t.deepEqual(
    ruleTags.slice(1),
    planned.routing.rules.map(({ ruleTag }) => ruleTag),
  );
  t.deepEqual([...outbounds.keys()].sort(), planned.outbounds.map(({ tag }) => tag).sort());
}

test('rules come, move and go, and a download goes on', async (t) => {
  const panel = await boot(t);
  const { run, reaches, near, far, socksPort } = panel;
  const long = download({ socksPort, server: near, bytes: 3_000_000, rate: 1_000_000 });
  t.true(await reaches(far));
  const blockFar = toPort(far.port, nowhere);
  const others = [1, 2, 3].map((port) => toPort(port, nowhere));
  await run(blockFar, ...others);
  t.false(await reaches(far), 'the new rule is in force');
  t.true(await reaches(near));
  await runsAsPlanned(t, panel);
  await run(...others, blockFar);
  t.false(await reaches(far), 'a rule that moved is in force');
  await runsAsPlanned(t, panel);
  await run(...others, toPort(far.port, { outboundTag: 'direct' }), blockFar);
  t.true(await reaches(far), 'the first rule that fits decides');
  await run();
  t.true(await reaches(far));
  await runsAsPlanned(t, panel);
  t.is(await long, 3_000_000);
});

test('another default outbound is in force at once, and goes back', async (t) => {
  const panel = await boot(t);
  const { run, reaches, near, far, socksPort } = panel;
  const long = download({ socksPort, server: near, bytes: 2_000_000, rate: 1_000_000 });
  const hole: CorePart = { outbound: { tag: 'hole', protocol: 'blackhole' }, isDefault: true };
  const change = await run(hole, toPort(near.port, { outboundTag: 'direct' }));
  t.like(change, { previousFirst: 'direct' });
  t.false(await reaches(far));
  t.true(await reaches(near));
  await runsAsPlanned(t, panel);
  await run();
  t.true(await reaches(far));
  await runsAsPlanned(t, panel);
  t.is(await long, 2_000_000);
});

test('an outbound changes under its tag', async (t) => {
  const panel = await boot(t, { outbound: { tag: 'way', protocol: 'blackhole' } });
  const { run, reaches, far } = panel;
  const rule = toPort(far.port, { outboundTag: 'way' });
  t.deepEqual(await run({ outbound: { tag: 'way', protocol: 'blackhole' } }, rule), {
    put: [],
    remove: [],
    rules: true,
  });
  t.false(await reaches(far));
  t.deepEqual(await run({ outbound: { tag: 'way', protocol: 'freedom' } }, rule), {
    put: ['way'],
    remove: [],
    rules: false,
  });
  t.true(await reaches(far));
});

test('a balancer follows its outbounds, and a changed one is in force', async (t) => {
  const panel = await boot(t);
  const { run, reaches, far } = panel;
  const outbounds: CorePart[] = [
    { outbound: { tag: 'a-hole', protocol: 'blackhole' } },
    { outbound: { tag: 'b-open', protocol: 'freedom' } },
  ];
  const rule = toPort(far.port, { balancerTag: 'pool' });
  const pool = (selector: string): CorePart => ({ balancer: { tag: 'pool', selector: [selector] } });
  await run(...outbounds, pool('b-'), rule);
  t.true(await reaches(far));
  await run(...outbounds, pool('a-'), rule);
  t.false(await reaches(far), 'the running core cannot change a balancer, so it gets another one');
  await run(...outbounds, pool('b-'), rule);
  t.true(await reaches(far), 'the first one is used again');
  await runsAsPlanned(t, panel);
});

test('what the core rejects changes nothing: not one rule is lost', async (t) => {
  const panel = await boot(t);
  const { driver, run, reaches, far, near, base } = panel;
  await run(toPort(far.port, nowhere));
  const before = base();
  const all = await driver.running();
  const bad: CorePart[] = [
    { rule: { type: 'field', port: String(near.port), balancerTag: 'nobody' } },
    { rule: { type: 'field', outboundTag: 'direct' } },
    { rule: { type: 'field', domain: ['geosite:not-there'], outboundTag: 'direct' } },
    { outbound: { tag: 'odd', protocol: 'no-such-protocol' } },
    { balancer: { tag: 'pool', selector: ['x'], strategy: { type: 'no-such-strategy' } } },
  ];
  for (const part of bad) {
    const wanted = planWith([
      toPort(far.port, nowhere),
      part,
      { outbound: { tag: 'new', protocol: 'freedom' } },
    ]);
    await t.throwsAsync(
      driver.changeBase(wanted.base, { put: ['new', 'odd'], remove: [], rules: true }),
      { instanceOf: CoreRefused },
      JSON.stringify(part),
    );
    t.deepEqual(await driver.running(), all, JSON.stringify(part));
  }
  t.false(await reaches(far));
  t.true(await reaches(near));
  t.is(base(), before);
});

test('a rule that is larger than a message of the core asks for a restart and changes nothing', async (t) => {
  const { driver } = await boot(t);
  const all = await driver.running();
  const domain = Array.from(
    { length: 60_000 },
    (_, at) => `full:${String(at).padStart(40, 'x')}.example.com`,
  );
  const base = baseConfig({
    outbounds: [],
    rules: [{ type: 'field', domain, outboundTag: 'blocked' }],
    nameServers: [],
    open,
  });
  await t.throwsAsync(driver.changeBase(base, { put: [], remove: [], rules: true }), {
    instanceOf: NeedsRestart,
  });
  t.deepEqual(await driver.running(), all);
});

test('users are counted without the placeholder', async (t) => {
  const { driver } = await boot(t);
  t.is(await driver.userCount('v'), 1);
  await driver.putUser('v', vlessUser('i1.c2'));
  t.is(await driver.userCount('v'), 2);
});

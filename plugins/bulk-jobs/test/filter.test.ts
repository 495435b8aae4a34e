// Runs on every database.
// The filter of a job is that of the list: all clients that list/paged shows, and no others.
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { random } from '../../../test/harness/random.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import { ClientFilter } from '../../clients/contract.js';
import clients from '../../clients/index.js';
import type { ClientLists } from '../../clients/lists/client-lists.js';
import type { ClientStore } from '../../clients/model/client-store.js';
import { validate } from '../../../kernel/index.js';
import { addClients, DAY_MS, EXPIRY, listed, run, start } from './world.js';

const CLIENTS = 300;
const ROUNDS = 60;
const SEED = Number(process.env['WEIR_TEST_SEED'] ?? (Date.now() % 1_000_000) + 1);

test('any filter finds what list/paged shows, as a whole and client by client', async (t) => {
  t.log(`WEIR_TEST_SEED=${SEED}`);
  const { below } = random(SEED);
  const observed = servicesOf<{ lists: ClientLists; store: ClientStore }>(clients);
  const engine = new FakeEngine();
  const clock = new FakeClock(Date.UTC(2030, 0, 1));
  await using panel = await TestPanel.boot({ plugins: [observed.plugin, engine.plugin], clock });
  const { services } = observed;
  const inbounds = [await panel.addInbound(), await panel.addInbound({ protocol: 'trojan' })];
  const one = <T>(...values: T[]): T => values[below(values.length)] as T;
  await addClients(panel, inbounds[0] as number, CLIENTS, () => ({
    expiryTime: one(0, EXPIRY, EXPIRY + DAY_MS, Date.UTC(2030, 0, 1) + 1000, -DAY_MS),
    totalGB: one(0, 1000, 10 ** 9),
    enable: below(4) > 0,
    group: one('', 'Family', 'friends'),
    comment: one('', 'Paid', ' '),
    tgId: one(0, 5),
    reset: one(0, 30),
  }));
  const all = await listed(panel, {});
  const some = all.filter(() => below(3) === 0);
  await panel.get('/panel/api/clients/bulkAttach', { body: { emails: some, inboundIds: [inbounds[1]] } });
  for (const row of services.store.all())
    if (below(3) === 0) engine.move(inbounds[0] as number, row.id, below(2000), 1);
  clock.tick(5_000);
  await panel.kernel.settled();

  const filters: Readonly<Record<string, () => string | number>> = {
    search: () => one('c0000', '9', 'PAID', 'nothing', '\n', '7'),
    status: () => one('online', 'active', 'deactive', 'depleted', 'expiring', 'depleted, deactive'),
    protocol: () => one('vless', 'TROJAN', 'vmess'),
    inboundIds: () => one(`${inbounds[1]}`, `${inbounds[0]},${inbounds[1]}`, '99'),
    group: () => one('family', 'FRIENDS, family', 'none'),
    expiryFrom: () => one(0, EXPIRY, EXPIRY + 1),
    expiryTo: () => one(0, EXPIRY, EXPIRY - 1),
    usageFrom: () => one(0, 1, 1000),
    usageTo: () => one(0, 1, 1000),
    autoRenew: () => one('on', 'off'),
    hasTgId: () => one('yes', 'no'),
    hasComment: () => one('yes', 'no'),
  };
  let found = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const names = Object.keys(filters).filter(() => below(5) === 0);
    const filter = Object.fromEntries(names.map((name) => [name, filters[name]?.() ?? '']));
    const shown = await listed(panel, filter);
    const { total, sample } = await start(panel, { action: 'enable', filter, dryRun: true });
    t.is(total, shown.length, JSON.stringify(filter));
    t.deepEqual(sample, shown.slice(0, 20), JSON.stringify(filter));
    const passes = services.lists.passing(validate(ClientFilter, filter));
    const passing = [...services.store.all()].filter(passes).map(({ email }) => email);
    t.deepEqual(passing, shown, JSON.stringify(filter));
    if (shown.length < CLIENTS) found += shown.length;
  }
  t.true(found > CLIENTS, 'filters find some and leave some');

  const job = await run(panel, { action: 'delete', filter: { group: 'family', hasTgId: 'yes' } });
  const gone = new Set(await listed(panel, {}));
  t.is(job.changed, CLIENTS - gone.size);
  t.is(job.skipped, 0);
  t.deepEqual(await listed(panel, { group: 'family', hasTgId: 'yes' }), []);
});

// Runs on every database in test:full.
// A core for each panel: the addresses of a client at both cores count against its limit together, and each panel cuts at
// its own core.
import test, { type ExecutionContext } from 'ava';
import { outboundOf } from '../../../test/demo/link-to-outbound.js';
import { engineBinary, MIB } from '../../../test/engine/user.js';
import { onSqlite } from '../../../test/harness/database.js';
import { type Declare, testUnless } from '../../../test/harness/left-out.js';
import { Sockets } from '../../connection-cut/sockets.js';
import { download, startClientCore } from '../../engine/xray/test/traffic.js';
import { connected, opened, SEVERAL_POLLS_MS } from './own-cores.js';
import { Panels } from './two-panels.js';

const obstacle = onSqlite ? '' : await new Sockets().obstacle();
const onServer: Declare = (title, run) => {
  if (obstacle !== '') testUnless(obstacle)(title, run);
  else (onSqlite ? test.skip : test.serial)(title, (t) => run(t) as Promise<void>);
};
const RATE = MIB;
/** Far more than flows while a test runs. */
const ENDLESS = 600 * MIB;
/** As many in a row are hardly ever of one core. */
const MOST_ADDRESSES = 12;
/** The log of the core knows seconds, and who came first is to be known. */
const A_SECOND_MS = 1_100;

interface Transfer {
  readonly address: string;
  soFar: number;
}
type Opened = Awaited<ReturnType<typeof opened>>;
interface Started {
  readonly panels: Panels;
  readonly world: Opened;
}

/** Starts a client program that connects from this address of loopback. */
async function startFrom(t: ExecutionContext, { a, server }: Opened, address: string): Promise<Transfer> {
  const [link = ''] = await a.get<string[]>('/panel/api/clients/links/ann');
  const { outbound } = outboundOf(link);
  const core = await startClientCore({
    binary: engineBinary(),
    outbound: { ...outbound, sendThrough: address },
  });
  t.teardown(core.stop);
  const transfer = { address, soFar: 0 };
  const onBytes = (soFar: number) => void (transfer.soFar = soFar);
  download({ socksPort: core.socksPort, server, bytes: ENDLESS, rate: RATE, onBytes }).catch(() => undefined);
  await a.until(() => transfer.soFar > 0, `${address} transfers`);
  await new Promise((resolve) => setTimeout(resolve, A_SECOND_MS));
  return transfer;
}

const rows = (panels: Panels) => panels.query<{ panel: string }>('SELECT panel FROM addresses_live');

/** Starts transfers from one address after another, at least so many, until both cores have some. */
async function untilBothServe(t: ExecutionContext, { panels, world }: Started, least: number) {
  const transfers: Transfer[] = [];
  for (let n = 2; n < 2 + MOST_ADDRESSES; n++) {
    transfers.push(await startFrom(t, world, `127.0.0.${n}`));
    if (transfers.length < least) continue;
    await world.a.until(
      async () => (await rows(panels)).length === transfers.length,
      'the panels tell each other of each address',
      SEVERAL_POLLS_MS,
    );
    if (new Set((await rows(panels)).map(({ panel }) => panel)).size === 2) return transfers;
  }
  throw new Error('one core has got all connections');
}

/** The client program of a transfer that is cut does not notice; the server that it comes from does. */
async function onlyTheseGoOn({ a, server }: Opened, transfers: readonly Transfer[]): Promise<void> {
  await a.until(() => server.giving === transfers.length, 'the others are cut', SEVERAL_POLLS_MS);
  for (const transfer of transfers) {
    const before = transfer.soFar;
    await a.until(() => transfer.soFar > before + MIB, `${transfer.address} goes on`);
  }
}

async function limited(t: ExecutionContext, panels: Panels, limitIp: number): Promise<Opened> {
  const world = await opened(t, panels);
  // The core's clients are on loopback here.
  await world.b.get('/panel/api/setting/update', { body: { addressesIgnored: '' } });
  const inbound = await world.a.addInbound();
  await world.a.addClient('ann', [inbound], { limitIp });
  await world.a.addClient('other', [inbound]);
  // Both cores have the clients by then.
  await connected(t, world.a, 'other', world.server);
  return world;
}

onServer('a client with limitIp 2 keeps its first two addresses, whichever cores they are at', async (t) => {
  await using panels = await Panels.open();
  const world = await limited(t, panels, 2);
  const transfers = await untilBothServe(t, { panels, world }, 4);
  await onlyTheseGoOn(world, transfers.slice(0, 2));
  for (const panel of [world.a, world.b])
    await panel.until(async () => {
      const seen = await panel.get<{ ip: string }[]>('/panel/api/clients/ips/ann', { method: 'POST' });
      return seen.length === transfers.length;
    }, 'each panel shows the addresses of all cores');
  t.deepEqual([...world.a.faults, ...world.b.faults], []);
});

onServer(
  'with ipLimitCut oldest the newest address gets in, and the others are cut at both cores',
  async (t) => {
    await using panels = await Panels.open();
    const world = await limited(t, panels, 1);
    await world.a.get('/panel/api/setting/update', { body: { ipLimitCut: 'oldest' } });
    const transfers = await untilBothServe(t, { panels, world }, 3);
    await onlyTheseGoOn(world, transfers.slice(-1));
    t.deepEqual([...world.a.faults, ...world.b.faults], []);
  },
);

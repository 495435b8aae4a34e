// Real bytes through two outbounds of a real core: each counts once, over kill -9 of the panel, a restart of the core and a reset.
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { connect, MIB, openServer, spawnPanel, type Teardown, usageOf } from '../../../test/engine/user.js';
import type { PanelApi } from '../../../test/harness/api.js';
import { folderOf, source, thirdParty, writeFiles } from '../../../test/outside/third-party.js';
import type { Shown } from './world.js';

type Bytes = Readonly<Record<string, { readonly up: number; readonly down: number }>>;

async function countedBy(panel: PanelApi): Promise<Bytes> {
  await panel.call('/panel/api/system/jobs/outbound-traffic/poll', { method: 'POST' });
  const shown = await panel.get<Shown[]>('/panel/api/engine/getOutboundsTraffic');
  return Object.fromEntries(shown.map(({ tag, up, down }) => [tag, { up, down }]));
}
const downOf = async (panel: PanelApi, tag: string): Promise<number> =>
  (await countedBy(panel))[tag]?.down ?? 0;

/** What is counted when this much has arrived; a moment later than the bytes. */
async function atLeast(panel: PanelApi, tag: string, bytes: number): Promise<number> {
  let down = 0;
  const until = panel as PanelApi & { until(is: () => Promise<boolean>, what: string): Promise<void> };
  await until.until(async () => (down = await downOf(panel, tag)) >= bytes, `${bytes} bytes of ${tag}`);
  return down;
}
/** Payload and headers of HTTP; the core counts exactly these at outbounds. */
const isExact = (counted: number, payload: number, requests: number): boolean =>
  counted >= payload && counted <= payload + requests * 500;

/** A panel whose config has a second outbound for one port. */
async function site(t: ExecutionContext & Teardown) {
  const dataDirectory = await folderOf(t);
  const [plain, routed] = [await openServer(t), await openServer(t)];
  const reference = await thirdParty(
    join(dataDirectory, 'packages'),
    'second',
    `import { composeCoreConfig } from '@weir-panel/weir/plugins/engine';\n${source(
      'second',
      `taps: () => [tap(composeCoreConfig, (add) => add(
         { outbound: { tag: 'second', protocol: 'freedom' } },
         { rule: { type: 'field', port: '${routed.port}', outboundTag: 'second' } },
       ))]`,
      'tap',
    )}`,
  );
  await writeFiles(dataDirectory, { 'weir.json': { plugins: { [reference]: true } } });
  return { dataDirectory, plain, routed, open: () => spawnPanel(t, { dataDirectory }) };
}

test('two outbounds count what left through each, with the usage of the client as their sum', async (t) => {
  const { plain, routed, open } = await site(t);
  const panel = await open();
  const inbound = await panel.addInbound();
  await panel.addClient('ann', [inbound]);
  const [ann, other] = [await connect(t, panel, 'ann', plain), await connect(t, panel, 'ann', routed)];
  t.is(await ann.download(3 * MIB), 3 * MIB);
  t.is(await other.download(5 * MIB), 5 * MIB);
  const [direct, second] = [await atLeast(panel, 'direct', 3 * MIB), await atLeast(panel, 'second', 5 * MIB)];
  t.true(isExact(direct, 3 * MIB, 1), `direct ${direct}`);
  t.true(isExact(second, 5 * MIB, 1), `second ${second}`);
  await panel.call('/panel/api/system/jobs/traffic/poll', { method: 'POST' });
  const counted = await countedBy(panel);
  const { up, down } = await usageOf(panel, 'ann');
  t.is(down, (counted['direct']?.down ?? 0) + (counted['second']?.down ?? 0));
  t.is(up, (counted['direct']?.up ?? 0) + (counted['second']?.up ?? 0));
  t.deepEqual(Object.keys(counted).sort(), ['direct', 'second']);

  // A planned restart: what moved since the last poll is in the last reading.
  await ann.download(MIB);
  t.true((await panel.call('/panel/api/server/restartEngineService', { method: 'POST' })).body.success);
  const shown = await panel.get<Shown[]>('/panel/api/engine/getOutboundsTraffic');
  const after = shown.find(({ tag }) => tag === 'direct')?.down ?? 0;
  t.true(isExact(after, 4 * MIB, 2), `after the restart ${after}`);
  await ann.download(MIB);
  const next = await atLeast(panel, 'direct', 5 * MIB);
  t.true(isExact(next, 5 * MIB, 3), `of the next core ${next}`);
});

test('panels are killed during transfers: the next one adopts the core and counts every byte once', async (t) => {
  const { plain, routed, open } = await site(t);
  const BYTES = 16 * MIB;
  let panel = await open();
  const inbound = await panel.addInbound();
  await panel.addClient('ann', [inbound]);
  const core = await panel.corePid();
  const [ann, other] = [await connect(t, panel, 'ann', plain), await connect(t, panel, 'ann', routed)];
  const transfers = [ann.start(BYTES, 3 * MIB), other.start(BYTES, 3 * MIB)];
  for (let round = 1; round <= 3; round++) {
    await atLeast(panel, 'direct', round * MIB);
    if (round === 1)
      t.true(
        transfers.every(({ soFar }) => soFar < BYTES),
        'the transfers run',
      );
    await panel.kill('SIGKILL');
    panel = await open();
    t.is(await panel.corePid(), core, 'the core was adopted');
  }
  for (const { ended } of transfers) t.is(await ended, BYTES);
  for (const tag of ['direct', 'second']) {
    const counted = await atLeast(panel, tag, BYTES);
    t.true(isExact(counted, BYTES, 1), `${tag} ${counted}`);
  }
});

test('a reset during a transfer: what came before it is gone, what comes after it counts', async (t) => {
  const { plain, open } = await site(t);
  const BYTES = 16 * MIB;
  const panel = await open();
  await panel.addClient('ann', [await panel.addInbound()]);
  const transfer = (await connect(t, panel, 'ann', plain)).start(BYTES, 3 * MIB);
  await atLeast(panel, 'direct', 4 * MIB);
  const before = transfer.soFar;
  const reset = await panel.call('/panel/api/engine/resetOutboundsTraffic', { body: { tag: 'direct' } });
  const after = transfer.soFar;
  t.is(reset.status, 200);
  t.true(after < BYTES, 'the transfer still runs');
  t.is(await transfer.ended, BYTES);
  await panel.until(async () => (await usageOf(panel, 'ann')).down >= BYTES, 'the client has all of it');
  const least = BYTES - after - 4 * MIB;
  await panel.until(async () => (await downOf(panel, 'direct')) >= least, 'the outbound has it as well');
  const counted = await downOf(panel, 'direct');
  // The core is ahead of the client program by what is under way between them.
  t.true(counted <= BYTES - before + 500, `${counted}, reset at ${before}–${after}`);
  const { down } = await usageOf(panel, 'ann');
  t.true(isExact(down, BYTES, 1), `the client ${down}`);
});

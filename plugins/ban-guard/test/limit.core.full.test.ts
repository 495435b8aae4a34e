// Runs nftables.
// With a real core in a network of its own: a client with limitIp 1 comes from two addresses.
import { createInterface } from 'node:readline';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { outboundOf } from '../../../test/demo/link-to-outbound.js';
import { engineBinary } from '../../../test/engine/user.js';
import { testUnless } from '../../../test/harness/left-out.js';
import type { PanelProcess } from '../../../test/harness/panel-process.js';
import { PUBLIC, SERVER, World } from '../../amneziawg/test/world.js';
import type { BanFacts } from '../contract.js';
import { whyNoNetworks } from './own-network.js';

const test = testUnless(await whyNoNetworks());
const STREAM = fileURLToPath(new URL('./stream.js', import.meta.url));
const [SOCKS, PORT, SERVES] = [10_808, 8443, 8080];
const [OLD, NEW] = ['198.51.101.2', '198.51.102.2'];

interface Download {
  bytes: number;
  hasEnded: boolean;
}

const listens = (world: World, panel: PanelProcess, where: string, port: number): Promise<void> =>
  panel.until(
    async () => (await world.exec(where, 'ss', ['-Htln'])).includes(`:${port}`),
    `a program listens in ${where}`,
  );

/** A client program in a namespace; each call starts a download through it. */
async function program(world: World, panel: PanelProcess, where: string, email: string) {
  const [link = ''] = await panel.get<string[]>(`/panel/api/clients/links/${email}`);
  const config = join(panel.dataDirectory, `${where}.json`);
  const { outbound } = outboundOf(link);
  const inbounds = [{ listen: '127.0.0.1', port: SOCKS, protocol: 'socks', settings: {} }];
  await writeFile(config, JSON.stringify({ log: { loglevel: 'none' }, inbounds, outbounds: [outbound] }));
  world.start(where, engineBinary(), ['run', '-c', config]).stdout?.resume();
  await listens(world, panel, where, SOCKS);
  return (): Download => {
    const download = { bytes: 0, hasEnded: false };
    const child = world.start(where, process.execPath, [
      STREAM,
      'read',
      String(SOCKS),
      PUBLIC,
      String(SERVES),
    ]);
    if (child.stdout)
      createInterface(child.stdout).on('line', (line) => {
        const said = JSON.parse(line) as number | 'end';
        if (said === 'end') download.hasEnded = true;
        else download.bytes = said;
      });
    return download;
  };
}

const listed = (panel: PanelProcess) => panel.get<BanFacts[]>('/panel/api/x/ban-guard/bans');

async function continues(panel: PanelProcess, download: Download, what: string): Promise<void> {
  const before = download.bytes;
  await panel.until(() => download.bytes > before + 64 * 1024, what);
}
/** Open connections of an address at the server's inbound. */
const openFrom = async (world: World, address: string): Promise<number> =>
  (await world.exec('server', 'ss', ['-Htn', 'state', 'established', 'dst', address]))
    .split('\n')
    .filter((line) => line.includes(`:${PORT}`)).length;

async function opened(t: ExecutionContext) {
  t.timeout(240_000);
  const world = await World.make(t);
  for (const number of [1, 2]) await world.addClient(number);
  const serve = world.start('net', process.execPath, [STREAM, 'serve', String(SERVES)]);
  await new Promise((resolve) => serve.stdout?.once('data', resolve));
  const env = { WEIR_ENGINE_BIN: engineBinary(), WEIR_ENGINE_PRIVATE: 'allow' };
  const panel = await world.panel(env);
  t.teardown(() => panel.kill('SIGKILL'));
  const { id } = await panel.get<{ id: number }>('/panel/api/inbounds/add', {
    body: { protocol: 'vless', port: PORT, remark: 'in', streamSettings: { network: 'tcp' } },
  });
  const add = (email: string, limitIp: number) =>
    panel.get('/panel/api/clients/add', { body: { client: { email, limitIp }, inboundIds: [id] } });
  await add('one', 1);
  await add('other', 0);
  await panel.get('/panel/api/setting/update', { body: { banGuardDriver: 'nftables', banGuardMinutes: 1 } });
  const usable = () => panel.get<{ usable: boolean }>('/panel/api/server/banGuardStatus');
  await panel.until(async () => (await usable()).usable, 'the driver works');
  return { world, panel, env };
}

test('the older address is banned and its connection ends, the newer runs on; after its time it may come again', async (t) => {
  const { world, panel, env } = await opened(t);
  const [fromOld, fromNew] = [
    await program(world, panel, 'c1', 'one'),
    await program(world, panel, 'c2', 'one'),
  ];
  const old = fromOld();
  await continues(panel, old, 'the first address transfers');
  const began = Date.now();
  const young = fromNew();
  await continues(panel, young, 'the second address transfers');
  await panel.until(async () => (await listed(panel)).length > 0, 'somebody is banned');
  t.log(`banned ${Date.now() - began} ms after the second address connected`);
  const [ban] = await listed(panel);
  t.like(ban, { address: OLD, email: 'one', reason: 'limitIp', driver: 'nftables' });
  await panel.until(() => old.hasEnded, 'the connection of the first address ends');
  t.is(await openFrom(world, OLD), 0);
  const again = fromOld();
  await continues(panel, young, 'the second address continues');
  t.is(again.bytes, 0, 'nothing gets through');
  t.is((await listed(panel)).length, 1, 'nobody else is banned');

  // The firewall keeps it while no panel runs.
  await panel.kill('SIGKILL');
  const during = young.bytes;
  t.is(fromOld().bytes, 0);
  const next = await world.panel(env, panel.dataDirectory);
  t.teardown(() => next.kill('SIGKILL'));
  t.is((await listed(next))[0]?.address, OLD);
  await next.until(() => young.bytes > during, 'the second address continues');
  t.true((await world.exec('server', 'nft', ['list', 'ruleset'])).includes(OLD));

  const until = (await listed(next))[0]?.until ?? 0;
  await next.until(() => Date.now() > until + 1500, 'its time is over', 90_000);
  // A packet that was sent again may have come through at once; then the other is banned.
  t.false((await listed(next)).some(({ address }) => address === OLD));
  const back = fromOld();
  await continues(next, back, 'the first address may come again');
  // Now the other one is the older.
  await next.until(async () => (await listed(next))[0]?.address === NEW, 'and the second is banned');
  await next.until(() => young.hasEnded, 'its connection ends');

  await next.get('/panel/api/setting/update', { body: { banGuardDriver: '' } });
  await next.until(
    async () => !(await world.exec('server', 'nft', ['list', 'tables'])).includes('_bans'),
    'nothing is left when it is switched off',
  );
  await continues(next, fromNew(), 'and everybody may come');
});

test('an address that another client uses is not banned; only connections of the client are closed', async (t) => {
  const { world, panel } = await opened(t);
  const first = (await program(world, panel, 'c1', 'one'))();
  await continues(panel, first, 'the first address transfers');
  // Another program on the same machine.
  const config = join(panel.dataDirectory, 'neighbour.json');
  const [link = ''] = await panel.get<string[]>('/panel/api/clients/links/other');
  const inbounds = [{ listen: '127.0.0.1', port: SOCKS + 1, protocol: 'socks', settings: {} }];
  await writeFile(config, JSON.stringify({ inbounds, outbounds: [outboundOf(link).outbound] }));
  world.start('c1', engineBinary(), ['run', '-c', config]).stdout?.resume();
  const neighbour: Download = { bytes: 0, hasEnded: false };
  await listens(world, panel, 'c1', SOCKS + 1);
  const child = world.start('c1', process.execPath, [
    STREAM,
    'read',
    String(SOCKS + 1),
    PUBLIC,
    String(SERVES),
  ]);
  if (child.stdout)
    createInterface(child.stdout).on(
      'line',
      (line) => (neighbour.bytes = Number(JSON.parse(line)) || neighbour.bytes),
    );
  await continues(panel, neighbour, 'the neighbour transfers');
  // Until the panel has read of it in the core's log.
  await panel.until(
    async () => (await panel.get<unknown[]>('/panel/api/clients/ips/other', { method: 'POST' })).length > 0,
    'the panel has seen it',
  );

  const second = (await program(world, panel, 'c2', 'one'))();
  await continues(panel, second, 'the second address transfers');
  await panel.until(() => first.hasEnded, 'the first address is cut');
  const spared = await panel.get<{ address: string; sharedWith: string[] }[]>(
    '/panel/api/x/ban-guard/spared',
  );
  t.like(spared[0], { address: OLD, sharedWith: ['other'] });
  t.deepEqual(await listed(panel), []);
  await continues(panel, neighbour, 'the neighbour notices nothing');
  t.log(`${SERVER} serves both`);
});

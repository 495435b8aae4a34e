// Runs sidecar programs.
// Panel, program or both are killed at random moments of edits: in the end device and database agree, and interfaces, rules
// and routes are those of the inbounds that are there.
import { setTimeout as sleep } from 'node:timers/promises';
import { testUnless } from '../../../test/harness/left-out.js';
import { random } from '../../../test/harness/random.js';
import { weirCommand } from '../../../test/harness/weir-command.js';
import { whyNoTunnels } from './needs.js';
import { addTunnel, inboundOf, reportOf, SERVER_BLOCK, untilRunning } from './tunnel-panel.js';
import { World } from './world.js';

const testTunnel = testUnless(await whyNoTunnels());
const KILLS = 8;
type Client = { readonly email: string; readonly enable: boolean };
type Status = { readonly pid: number; readonly inboundIds: readonly number[] };

testTunnel('kills at random moments of edits leave device, rules and database in agreement', async (t) => {
  const { below } = random(5);
  const world = await World.make(t);
  let panel = await world.panel();
  const { dataDirectory } = panel;
  const { id } = await addTunnel(panel, { settings: { server: SERVER_BLOCK } });
  const other = await addTunnel(panel, { port: 51_900 });
  await panel.addClient('steady', [id, other.id]);
  await untilRunning(panel, id);
  const edit = async (inboundId: number, fields: object): Promise<unknown> =>
    panel.call(`/panel/api/inbounds/update/${inboundId}`, {
      body: { ...(await inboundOf(panel, inboundId)), ...fields },
    });
  const name = (): string => `c${below(4)}`;
  const edits: (() => Promise<unknown>)[] = [
    () => panel.addClient(name(), [id, other.id]),
    () => panel.addClient(name(), [id], { forwardedPorts: String(8000 + below(50)) }),
    () => panel.call(`/panel/api/clients/del/${name()}`, { body: {} }),
    () => panel.call(`/panel/api/clients/update/${name()}`, { body: { enable: below(2) === 0 } }),
    () => panel.call(`/panel/api/clients/update/${name()}`, { body: { keepAlive: below(30) } }),
    () => edit(other.id, { enable: below(2) === 0 }),
    () => edit(id, { port: 51_820 + below(3) }),
  ];
  for (let kill = 0; kill < KILLS; kill++) {
    const editing = (async () => {
      for (let i = 0; i < 4; i++) await edits[below(edits.length)]?.().catch(() => undefined);
    })();
    const pids = await panel.get<Status[]>('/panel/api/x/sidecars').then(
      (all) => all.map(({ pid }) => pid).filter((pid) => pid > 0),
      () => [] as number[],
    );
    await sleep(below(700));
    if (kill % 3 !== 1) await panel.kill('SIGKILL');
    if (kill % 3 !== 0)
      for (const pid of pids)
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // It has ended.
        }
    await editing;
    if (kill % 3 !== 1) panel = await world.panel({}, dataDirectory);
    await untilRunning(panel, id);
  }
  await edit(other.id, { enable: true });
  await untilRunning(panel, other.id);
  await sleep(6000);
  const { code, said } = await weirCommand(dataDirectory, ['invariants']);
  t.is(code, 0, said);
  t.regex(said, /programs beside the core have the users of the database: ok/);
  const clients = await panel.get<Client[]>('/panel/api/clients/list');
  const wanted = clients.filter(({ enable }) => enable).map(({ email }) => email);
  const { peers } = await reportOf(panel);
  t.deepEqual(
    peers
      .filter(({ inboundId }) => inboundId === id)
      .map(({ email }) => email)
      .sort(),
    wanted.sort(),
  );
  const links = async () => (await world.exec('server', 'ip', ['-o', 'link'])).match(/awg\d+(?=:)/g) ?? [];
  const tables = async () => (await world.exec('server', 'nft', ['list', 'tables'])).match(/awg\d+$/gm) ?? [];
  t.deepEqual((await links()).sort(), [`awg${id}`, `awg${other.id}`]);
  t.deepEqual((await tables()).sort(), [`awg${id}`, `awg${other.id}`]);
  for (const inboundId of [id, other.id])
    await panel.call(`/panel/api/inbounds/del/${inboundId}`, { method: 'POST' });
  await panel.until(async () => (await links()).length + (await tables()).length === 0, 'nothing is left');
  t.pass();
});

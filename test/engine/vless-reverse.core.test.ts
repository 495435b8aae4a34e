// A reverse tunnel on a real core: a client's program behind a firewall becomes an outbound, through which others reach it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import test, { type ExecutionContext } from 'ava';
import { freePort } from '../../plugins/engine/xray/test/traffic.js';
import { source, thirdParty, writeFiles, folderOf } from '../outside/third-party.js';
import { connect, counted, engineBinary, engineOf, MIB, openPanel, openServer, within } from './user.js';

/** Everything from the inbound `users` leaves through the outbound `home`. */
const ROUTED = `import { composeCoreConfig } from '@weir-panel/weir/plugins/engine';
${source(
  'routed',
  `taps: () => [tap(composeCoreConfig, (add) => add({ rule: { type: 'field', inboundTag: ['users'], outboundTag: 'home' } }))]`,
  'tap',
)}`;

/** The program at home: connects to the inbound and lets what comes through the tunnel out. Returns how to end it. */
async function tunnelProgram(t: ExecutionContext, port: number, id: string): Promise<() => Promise<void>> {
  const program = spawn(engineBinary(), ['run', '-c', 'stdin:'], { stdio: ['pipe', 'ignore', 'inherit'] });
  const ended = once(program, 'exit');
  const end = async (): Promise<void> => {
    program.kill('SIGKILL');
    await ended;
  };
  t.teardown(end);
  const settings = { address: '127.0.0.1', port, id, encryption: 'none', reverse: { tag: 'from-tunnel' } };
  program.stdin.end(
    JSON.stringify({
      log: { loglevel: 'none' },
      outbounds: [
        { tag: 'direct', protocol: 'freedom' },
        { tag: 'tunnel', protocol: 'vless', settings },
      ],
      routing: { rules: [{ type: 'field', inboundTag: ['from-tunnel'], outboundTag: 'direct' }] },
    }),
  );
  return end;
}

test('a client with `reverse` opens a tunnel that carries bytes of others; without it the core refuses', async (t) => {
  const folder = await folderOf(t);
  const server = await openServer(t);
  const routed = await thirdParty(folder, 'routed', ROUTED);
  await writeFiles(folder, { 'weir.json': { plugins: { [routed]: true } } });
  const panel = await openPanel(t, { dataDirectory: folder });
  const [homePort, usersPort] = [await freePort(), await freePort()];
  const home = await panel.addInbound({ port: homePort });
  const users = await panel.addInbound({ port: usersPort, tag: 'users' });
  const { uuid } = await panel.addClient('home', [home]);
  await panel.addClient('bob', [users]);
  const core = await panel.corePid();

  const closeFirst = await tunnelProgram(t, homePort, uuid);
  const bob = await connect(t, panel, 'bob', server);
  t.false(await bob.served(), 'the client has no right to a tunnel yet');
  await panel.get('/panel/api/clients/update/home', { body: { reverse: { tag: 'home' } } });
  await panel.until(() => bob.served(), 'the tunnel carries bytes');
  t.is(await bob.download(MIB), MIB);
  t.true(within(await counted(panel, 'bob', MIB), MIB));
  t.is(await panel.corePid(), core, 'the core was not restarted');

  await panel.get('/panel/api/clients/update/home', { body: { reverse: null } });
  await panel.until(async () => !(await bob.served()), 'the tunnel is closed');
  // The connection of the program that was there stays open without a tunnel in it: it has to connect again.
  await closeFirst();
  await panel.get('/panel/api/clients/update/home', {
    body: { reverse: { tag: 'home', sniffing: { enabled: true } } },
  });
  await tunnelProgram(t, homePort, uuid);
  await panel.until(() => bob.served(), 'the tunnel is open again');

  await panel.leave();
  const next = await openPanel(t, { dataDirectory: folder });
  t.is(await next.corePid(), core, 'adopted');
  t.true(await bob.served());
  t.falsy(
    next.log.find(({ msg }) => String(msg).includes('reconciled users')),
    'the account is as the core has it',
  );
  await next.get('/panel/api/server/restartEngineService', { method: 'POST' });
  await next.until(() => bob.served(), 'a core that starts with it has the tunnel too');
  t.like(await engineOf(next), { state: 'running', errorMsg: '' });
});

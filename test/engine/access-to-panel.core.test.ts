// The core must not give access to the panel, also with inbounds in the database that no check has seen.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { connect as dial, createServer } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { accepts } from '../../plugins/engine/xray/test/traffic.js';
import { ADMIN, freePort, type PanelApi } from '../harness/api.js';
import { editDatabase } from '../harness/edit-database.js';
import { until } from '../harness/until.js';
import { askPanel } from '../../plugins/command-line/channel.js';
import { connect, engineBinary, engineOf, openPanel, openServer } from './user.js';

/** Resolves with the reply to these bytes. */
async function answerTo(port: number, sent: string): Promise<string> {
  const socket = dial(port, '127.0.0.1').on('error', () => undefined);
  let heard = '';
  socket.on('data', (chunk) => (heard += String(chunk))).write(sent);
  await once(socket, 'close');
  return heard;
}

/** Starts an unmanaged core whose fallback leads to this socket or port. */
async function coreWithFallback(t: ExecutionContext, dest: string): Promise<number> {
  const port = await freePort();
  const settings = { clients: [], decryption: 'none', fallbacks: [{ dest }] };
  const inbound = { listen: '127.0.0.1', port, protocol: 'vless', settings };
  const child = spawn(engineBinary(), ['run', '-c', 'stdin:'], { stdio: ['pipe', 'ignore', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  child.stdin.end(JSON.stringify({ inbounds: [inbound], outbounds: [{ protocol: 'blackhole' }] }));
  await until(() => accepts(port), 'the core listens');
  return port;
}

const login = (panel: PanelApi) =>
  panel.call('/login', { body: ADMIN, anonymous: true }).then(({ status }) => status);
const leadTo = (id: number, dest: string) =>
  `UPDATE inbounds SET settings = '${JSON.stringify({ decryption: 'none', fallbacks: [{ dest }] })}' WHERE id = ${id}`;

test('bytes that a core passes to the command socket have no effect', async (t) => {
  const panel = await openPanel(t);
  const socket = join(panel.dataDirectory, 'panel.sock');
  const port = await coreWithFallback(t, socket);
  for (const question of [
    { argv: ['admin', 'reset'] },
    { secret: '', argv: ['admin', 'reset'] },
    { secret: '0'.repeat(64), argv: ['admin', 'reset'] },
  ])
    t.is(await answerTo(port, `${JSON.stringify(question)}\n`), '');
  t.is(await login(panel), 200, 'nobody has reset the admin');
  const secret = join(panel.dataDirectory, 'panel.secret');
  t.is((await stat(secret)).mode & 0o777, 0o600);

  const question = { secret: await readFile(secret, 'utf8'), argv: ['plugins'] };
  t.regex(await answerTo(port, `${JSON.stringify(question)}\n`), /"exit":0/, 'the way itself is open');
  const silent = { say: () => undefined, complain: () => undefined };
  t.is(await askPanel(panel.dataDirectory, ['plugins'], silent), 0);
});

test('an inbound that leads into the panel is kept out of the core, and all others serve', async (t) => {
  const server = await openServer(t);
  const first = await openPanel(t);
  const ports = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const ids: number[] = [];
  for (const port of ports) ids.push(await first.addInbound({ port }));
  await first.addClient('a', ids);
  const { dataDirectory } = first;
  await first.leave();
  const core = await first.corePid();
  const panelPort = await freePort();
  await editDatabase(dataDirectory, [
    leadTo(ids[0] ?? 0, join(dataDirectory, 'panel.sock')),
    leadTo(ids[1] ?? 0, join(dataDirectory, 'engine', 'api.sock')),
    leadTo(ids[2] ?? 0, `0x7f.1:${panelPort}`),
  ]);

  const second = await openPanel(t, { dataDirectory, env: { WEIR_PANEL_PORT: String(panelPort) } });
  t.is(await second.corePid(), core, 'the running core is adopted');
  t.deepEqual(await Promise.all(ports.map(accepts)), [false, false, false, true]);
  t.true(await (await connect(t, second, 'a', server, 3)).served());
  const { state, errorMsg } = await engineOf(second);
  t.is(state, 'running');
  for (const reason of [
    /panel\.sock is a Unix socket of no inbound/,
    /api\.sock is a Unix socket of no inbound/,
    /127\.0\.0\.1:\d+ is the panel's own/,
  ])
    t.regex(errorMsg, reason);
  t.is(second.log.filter(({ msg }) => msg === 'a part of the config is left out of the core').length, 3);

  await second.get(`/panel/api/inbounds/update/${ids[2]}`, { body: { settings: { fallbacks: [] } } });
  t.true(await accepts(ports[2] ?? 0), 'it is put as soon as nothing speaks against it');
});

test('a fallback to a named local server serves, until the panel itself moves to its port', async (t) => {
  const port = await freePort();
  const web = await freePort();
  const site = createServer((socket) => socket.resume().end('the site')).listen(web, '127.0.0.1');
  t.teardown(() => site.close());
  await once(site, 'listening');
  const env = { WEIR_FALLBACK_DESTINATIONS: `localhost:${web}` };
  const first = await openPanel(t, { env });
  await first.addInbound({ port, settings: { fallbacks: [{ dest: `127.0.0.1:${web}` }] } });
  t.is(await answerTo(port, `GET / HTTP/1.1\r\nHost: ${'x'.repeat(40)}\r\n\r\n`), 'the site');
  const { dataDirectory } = first;
  await first.stop();

  // Without the entry it keeps working as it was saved.
  const second = await openPanel(t, { dataDirectory });
  t.is(await answerTo(port, `GET / HTTP/1.1\r\nHost: ${'x'.repeat(40)}\r\n\r\n`), 'the site');
  await second.stop();

  site.close();
  await once(site, 'close');
  const third = await openPanel(t, { dataDirectory, env: { ...env, WEIR_PANEL_PORT: String(web) } });
  t.false(await accepts(port));
  t.regex((await engineOf(third)).errorMsg, new RegExp(`127.0.0.1:${web} is the panel's own`));
});

test('a device among the certificates does not hang the core, nor edits of other inbounds', async (t) => {
  const first = await openPanel(t);
  const ports = [await freePort(), await freePort()];
  const ids = [await first.addInbound({ port: ports[0] }), await first.addInbound({ port: ports[1] })];
  const { dataDirectory } = first;
  await first.stop();
  const pair = { certificateFile: '/dev/ptmx', keyFile: '/dev/ptmx' };
  const stream = { security: 'tls', tlsSettings: { certificates: [pair] } };
  await editDatabase(dataDirectory, [
    `UPDATE inbounds SET stream_settings = '${JSON.stringify(stream)}' WHERE id = ${ids[0]}`,
  ]);
  const second = await openPanel(t, { dataDirectory });
  t.is(second.ready.engine, 'running');
  t.deepEqual(await Promise.all(ports.map(accepts)), [false, true]);
  t.regex((await engineOf(second)).errorMsg, /\/dev\/ptmx is outside the folders for certificates/);
  await second.get(`/panel/api/inbounds/update/${ids[1]}`, { body: { remark: 'edited' } });
});

test('users reach this machine itself only where WEIR_ENGINE_PRIVATE allows it', async (t) => {
  const server = await openServer(t);
  const closed = await openPanel(t, { env: { WEIR_ENGINE_PRIVATE: '' } });
  await closed.addClient('a', [await closed.addInbound()]);
  t.is(closed.ready.engine, 'running', closed.ready.engineProblem);
  t.false(
    await (await connect(t, closed, 'a', server)).served(),
    'by default the server on loopback is out of reach',
  );
  await closed.stop();
  const open = await openPanel(t, {
    dataDirectory: closed.dataDirectory,
    env: { WEIR_ENGINE_PRIVATE: 'allow' },
  });
  t.true(await (await connect(t, open, 'a', server)).served(), 'the same user, the same inbound');
});

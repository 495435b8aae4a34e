// The panel is killed while a receiver hangs: after the next start everything arrives, and warnings come once.
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import { until } from '../../../test/harness/until.js';
import { folderOf, thirdParty, writeFiles } from '../../../test/outside/third-party.js';
import { deliveriesOf } from './channels.js';

const BELL = (port: number) => `
import { contribute, definePlugin } from '@weir-panel/weir/kernel';
import { Channels } from '@weir-panel/weir/plugins/notifications';
const post = async (body, signal) => {
  const answer = await fetch('http://127.0.0.1:${port}/', { method: 'POST', body: JSON.stringify(body), signal });
  if (!answer.ok) throw new Error('status ' + answer.status);
};
export default definePlugin({
  name: 'bell', version: '1.2.3', api: 1, about: 'For a test.',
  contributes: () => [contribute(Channels, {
    name: 'bell', isOn: () => true,
    events: () => ['clientExpiryNear', 'loginFailed'],
    send: (notification, signal) => post({ ...notification, to: 'admins' }, signal),
    sendToClient: (notification, client, signal) => post({ ...notification, to: client.email }, signal),
  })],
});`;
interface Heard {
  readonly id: string;
  readonly event: string;
  readonly to: string;
}

test('after kill -9 what was not delivered is sent again, and each warning once', async (t) => {
  t.timeout(240_000);
  const heard: Heard[] = [];
  const arrived: Heard[] = [];
  let isHanging = true;
  const receiver = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    heard.push(JSON.parse(body) as Heard);
    if (isHanging) return;
    arrived.push(JSON.parse(body) as Heard);
    response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  t.teardown(() => {
    receiver.close();
    receiver.closeAllConnections();
  });
  const dataDirectory = await folderOf(t);
  const bell = await thirdParty(dataDirectory, 'bell', BELL((receiver.address() as AddressInfo).port));
  await writeFiles(dataDirectory, { 'weir.json': { plugins: { [bell]: true } } });
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const start = () => PanelProcess.start({ dataDirectory, env: { WEIR_ENGINE_BIN: '/nowhere/core' } });

  let panel = await start();
  t.teardown(() => panel.dispose());
  const inbound = await panel.addInbound();
  for (const [i, email] of ['ann', 'ben', 'cat'].entries())
    await panel.addClient(email, [inbound], { expiryTime: Date.now() + 86_400_000, tgId: i + 1 });
  await until(() => heard.length > 0, 'the first attempt is under way');
  await until(async () => (await deliveriesOf(panel as never)).length >= 4, 'all are stored');
  await panel.call('/login', { body: { username: 'eve', password: 'guess' }, anonymous: true });
  await until(
    async () => (await deliveriesOf(panel as never, '?event=loginFailed')).length === 1,
    'the login is stored',
  );
  await panel.kill('SIGKILL');
  isHanging = false;

  panel = await start();
  await until(() => arrived.length >= 5, 'all arrive');
  await until(async () => (await deliveriesOf(panel as never, '?state=waiting')).length === 0, 'none waits');
  await panel.kill('SIGKILL');
  panel = await start();
  await new Promise((resolve) => setTimeout(resolve, 12_000));
  const warnings = arrived.filter(({ event }) => event === 'clientExpiryNear');
  t.deepEqual(
    warnings
      .map(({ to }) => to)
      .filter((to) => to !== 'admins')
      .sort(),
    ['ann', 'ben', 'cat'],
    'each client once',
  );
  t.true(warnings.some(({ to }) => to === 'admins'));
  t.is(arrived.filter(({ event }) => event === 'loginFailed').length, 1);
  t.is(
    new Set(arrived.map(({ id, to }) => `${id} ${to}`)).size,
    arrived.length,
    'nothing twice where the panel ran on',
  );
});

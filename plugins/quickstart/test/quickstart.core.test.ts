// `weir quickstart` with a real core; the command runs in the process of the test, the panel in its own.
import test from 'ava';
import { engineBinary, engineOf, openPanel } from '../../../test/engine/user.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { type Ended, weirCommand } from '../../../test/harness/weir-command.js';
import { folderFor } from '../../../test/harness/folder-for.js';

const linkIn = ({ said }: Ended): string => /^link +(\S+)$/m.exec(said)?.[1] ?? '';

test('on a machine without a panel it makes one; the panel that starts then serves what was printed', async (t) => {
  const dataDirectory = await folderFor(t);
  const first = await weirCommand(dataDirectory, ['quickstart', '--host', 'vpn.example.com']);
  t.deepEqual([first.code, first.complained], [0, '']);
  const link = new URL(linkIn(first));
  t.is(link.hostname, 'vpn.example.com');
  t.is(link.searchParams.get('security'), 'reality');
  t.is(link.searchParams.get('sni'), 'www.microsoft.com');
  t.is(link.searchParams.get('flow'), 'xtls-rprx-vision');
  t.regex(first.said, /[█▀▄]{5}/, 'a code to scan');
  t.false(first.said.includes('WEIR_PUBLIC_HOST'));

  const panel = await openPanel(t, { dataDirectory });
  t.is((await engineOf(panel)).state, 'running');
  const [inbound] =
    await panel.get<{ port: number; clientStats: { email: string }[] }[]>('/panel/api/inbounds/list');
  t.is(String(inbound?.port), link.port);
  t.deepEqual(
    inbound?.clientStats.map(({ email }) => email),
    ['first'],
  );
  const again = await weirCommand(dataDirectory, ['quickstart', '--host', 'vpn.example.com']);
  t.is(linkIn(again), linkIn(first), 'run again, it shows the same');
  t.is((await panel.get<unknown[]>('/panel/api/inbounds/list')).length, 1);
});

test('while the panel runs the core has it at once, and a link to this machine itself comes with a word of warning', async (t) => {
  const panel = await openPanel(t);
  t.is((await weirCommand(panel.dataDirectory, ['quickstart', '--host', 'not a host'])).code, 2);
  t.is((await weirCommand(panel.dataDirectory, ['quickstart', '--email', 'a b'])).code, 1);
  t.deepEqual(await panel.get('/panel/api/inbounds/list'), [], 'what cannot be makes nothing');
  t.is((await panel.get<{ total: number }>('/panel/api/clients/list/paged')).total, 0);

  const ended = await weirCommand(panel.dataDirectory, ['quickstart', '--email', 'ann']);
  t.deepEqual([ended.code, ended.complained], [0, '']);
  t.false(ended.said.includes('are not active in the core yet'));
  t.regex(ended.said, /WEIR_PUBLIC_HOST/);
  const url = /^subscription +(\S+)$/m.exec(ended.said)?.[1] ?? '';
  const config = await panel.get<{ inbounds: { settings: { clients?: unknown[] } }[] }>(
    '/panel/api/server/getConfigJson',
  );
  t.is(config.inbounds.filter(({ settings }) => settings.clients?.length === 1).length, 1);
  t.is((await fetch(url)).status, 200);
});

test('a port that a disabled inbound holds is left to it', async (t) => {
  const dataDirectory = await folderFor(t);
  const panel = await TestPanel.boot({ dataDirectory, env: { WEIR_ENGINE_BIN: engineBinary() } });
  t.teardown(() => panel.stop());
  for (const port of [443, 8443]) await panel.addInbound({ port, enable: false });
  const ended = await weirCommand(dataDirectory, ['quickstart']);
  t.deepEqual([ended.code, ended.complained], [0, '']);
  const ports = (await panel.get<{ port: number }[]>('/panel/api/inbounds/list')).map(({ port }) => port);
  t.is(ports.length, 3);
  t.is(new Set(ports).size, 3);
});

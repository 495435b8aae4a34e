// Protocols of third-party plugins on a real core: one whose users are part of the inbound's config, and one whose users
// the core changes over its API.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { outboundOf } from '../demo/link-to-outbound.js';
import type { PanelApi } from '../harness/api.js';
import type { CorePanel } from './core-panel.js';
import { folderOf, source, thirdParty as stranger, writeFiles } from '../outside/third-party.js';
import {
  type ClientCore,
  download,
  freePort,
  startClientCore,
} from '../../plugins/engine/xray/test/traffic.js';
import { counted, engineBinary, engineOf, MIB, openPanel, openServer, usageOf, within } from './user.js';

const BUILT = new URL('../../examples/socks-inbound/', import.meta.url);

/** The built examples/socks-inbound, in a folder of its own. */
async function socksPackage(folder: string): Promise<string> {
  const reference = await stranger(
    folder,
    'socks-inbound',
    await readFile(new URL('index.js', BUILT), 'utf8'),
  );
  await writeFiles(join(folder, 'socks-inbound'), {
    'socks.js': await readFile(new URL('socks.js', BUILT), 'utf8'),
  });
  return reference;
}

interface Login {
  readonly user: string;
  readonly pass: string;
  readonly address: string;
  readonly port: number;
}
/** The link of a client, read as its program reads it. */
async function loginOf(panel: PanelApi, email: string): Promise<Login> {
  const [link = ''] = await panel.get<string[]>(`/panel/api/clients/links/${email}`);
  const { protocol, username, hostname, port } = new URL(link.replace('socks:', 'http:'));
  if (protocol !== 'http:') throw new Error(`no link of socks: ${link}`);
  const [user = '', pass = ''] = Buffer.from(decodeURIComponent(username), 'base64url').toString().split(':');
  return { user, pass, address: hostname, port: Number(port) };
}

async function program(t: ExecutionContext, { address, port, user, pass }: Login): Promise<ClientCore> {
  const core = await startClientCore({
    binary: engineBinary(),
    outbound: {
      protocol: 'socks',
      settings: { servers: [{ address, port, users: [{ user, pass }] }] },
    },
  });
  t.teardown(core.stop);
  return core;
}

async function boot(t: ExecutionContext, references: readonly string[], folder: string): Promise<CorePanel> {
  await writeFiles(folder, {
    'weir.json': { plugins: Object.fromEntries(references.map((reference) => [reference, true])) },
  });
  return openPanel(t, { dataDirectory: folder });
}

test('clients of a package’s protocol log in with their accounts, are counted, and are rejected when they are removed', async (t) => {
  const folder = await folderOf(t);
  const server = await openServer(t);
  const panel = await boot(t, [await socksPackage(folder)], folder);
  const add = (settings: object, port: number) =>
    panel.call('/panel/api/inbounds/add', {
      body: { protocol: 'socks', port, listen: '127.0.0.1', enable: true, remark: 's', settings },
    });
  const refused = await add({ auth: 'noauth' }, await freePort());
  t.is(refused.status, 400);
  t.regex(JSON.stringify(refused.body), /settings\.auth/);

  const port = await freePort();
  const inbound = await panel.addInbound({ protocol: 'socks', port });
  const listed = await panel.get<{ id: number; protocol: string }[]>('/panel/api/inbounds/list');
  t.is(listed.find(({ id }) => id === inbound)?.protocol, 'socks');
  await panel.addClient('ada', [inbound]);
  await panel.addClient('bob', [inbound]);
  const core = await panel.corePid();

  const ada = await loginOf(panel, 'ada');
  const bob = await loginOf(panel, 'bob');
  t.is(ada.port, port);
  const served = async (login: Login): Promise<boolean> => {
    const { socksPort, stop } = await program(t, login);
    return download({ socksPort, server, bytes: 1000 })
      .then(
        (came) => came === 1000,
        () => false,
      )
      .finally(stop);
  };
  await panel.until(() => served(bob), 'bob is served');
  const { socksPort } = await program(t, ada);
  t.is(await download({ socksPort, server, bytes: MIB }), MIB);
  t.true(within(await counted(panel, 'ada', MIB), MIB));
  t.true((await usageOf(panel, 'bob')).down < MIB, 'what ada moved is hers alone');

  t.false(await served({ ...ada, pass: 'wrong' }));
  t.false(await served({ ...ada, user: 'ada' }));
  await panel.get('/panel/api/clients/update/ada', { body: { enable: false } });
  await panel.until(async () => !(await served(ada)), 'ada is disabled');
  t.true(await served(bob), 'bob goes on');
  await panel.get('/panel/api/clients/update/ada', { body: { enable: true } });
  await panel.until(() => served(ada), 'ada is enabled');

  // The list must still have its placeholder: an empty list would accept everybody.
  await panel.get('/panel/api/clients/del/bob', { method: 'POST' });
  await panel.get('/panel/api/clients/del/ada', { method: 'POST' });
  await panel.until(async () => !(await served(ada)) && !(await served(bob)), 'both are deleted');
  t.is(await panel.corePid(), core, 'the core was never restarted');
  t.like(await engineOf(panel), { state: 'running', errorMsg: '' });
});

test('a panel that adopts its core finds these users unchanged, and applies later edits', async (t) => {
  const folder = await folderOf(t);
  const server = await openServer(t);
  const reference = await socksPackage(folder);
  const first = await boot(t, [reference], folder);
  const inbound = await first.addInbound({ protocol: 'socks', port: await freePort() });
  await first.addClient('ada', [inbound]);
  const ada = await loginOf(first, 'ada');
  const core = await first.corePid();
  await first.leave();

  const second = await boot(t, [reference], folder);
  t.is(await second.corePid(), core);
  t.falsy(second.log.find(({ msg }) => String(msg).includes('the core did not accept')));
  const { socksPort } = await program(t, ada);
  t.is(await download({ socksPort, server, bytes: MIB }), MIB);
  t.true(within(await counted(second, 'ada', MIB), MIB));
  await second.get('/panel/api/clients/update/ada', { body: { enable: false } });
  await second.until(
    () =>
      download({ socksPort, server, bytes: 10 }).then(
        () => false,
        () => true,
      ),
    'ada is out',
  );
});

/** VLESS under another name, with an account type of its own. */
const flavour = (name: string, type: string, protocol: string): string =>
  `import { AccountTypes } from '@weir-panel/weir/plugins/engine';
import { Protocols } from '@weir-panel/weir/plugins/inbounds';
import { Renderers } from '@weir-panel/weir/plugins/subscription';
${source(
  name,
  `contributes: () => [
    contribute(AccountTypes, { name: '${name}', users: 'api', ${type} }),
    contribute(Protocols, {
      name: '${name}', settings: shape({}).unknown(true), ${protocol}
      coreSettings: () => ({ decryption: 'none' }),
      account: ({ uuid }) => ({ protocol: '${name}', uuid, flow: '' }),
      entry: (_inbound, base) => ({ ...base, account: { protocol: '${name}', uuid: ({ uuid }) => uuid } }),
    }),
    contribute(Renderers, {
      format: 'links', protocol: '${name}',
      compile: () => ({ client, authority }) => \`vless://\${client.uuid}@\${authority}?type=tcp&security=none&encryption=none\`,
    }),
  ]`,
  'contribute, shape',
)}`;
const VLESS =
  "protocol: 'vless', inboundType: 'xray.proxy.vless.inbound.Config', usersField: 1, message: 'xray.proxy.vless.Account',";
const FIELDS =
  "fields: { uuid: { number: 1, type: 'string', json: 'id', lowerCase: true }, flow: { number: 2, type: 'string' } }";

test('users of a third-party account type are added and removed over the core’s API; what the core does not support is refused when it is saved', async (t) => {
  const folder = await folderOf(t);
  const server = await openServer(t);
  const core = "coreName: 'vless',";
  const kinds = {
    'acme-vless': [`${VLESS} ${FIELDS}`, core],
    'wrong-field': [`${VLESS} ${FIELDS.replace('number: 1', 'number: 3')}`, core],
    'wrong-message': [`${VLESS.replace('vless.Account', 'trojan.Account')} ${FIELDS}`, core],
    'wrong-list': [`${VLESS.replace('usersField: 1', 'usersField: 9')} ${FIELDS}`, core],
    'wrong-inbound': [`${VLESS.replace('vless.inbound.Config', 'trojan.ServerConfig')} ${FIELDS}`, core],
    unheard: [`${VLESS.replace("'vless'", "'unheard'")} ${FIELDS}`, ''],
  } as const;
  const references = await Promise.all(
    Object.entries(kinds).map(([name, [type, protocol]]) =>
      stranger(folder, name, flavour(name, type, protocol)),
    ),
  );
  const panel = await boot(t, references, folder);
  const reasons: Record<string, RegExp> = {
    'wrong-field': /uuid in xray\.proxy\.vless\.Account/,
    'wrong-message': /no xray\.proxy\.trojan\.Account/,
    'wrong-list': /no user in field 9/,
    'wrong-inbound': /for xray\.proxy\.vless\.inbound\.Config/,
    unheard: /does not know the protocol unheard/,
  };
  for (const [name, reason] of Object.entries(reasons)) {
    const reply = await panel.call('/panel/api/inbounds/add', {
      body: { protocol: name, port: await freePort(), listen: '127.0.0.1', enable: true, settings: {} },
    });
    t.is(reply.status, 422, name);
    const { msg, code } = reply.body as { msg: string; code: string };
    t.is(code, 'INBOUNDS_CORE_REFUSED');
    t.regex(msg, reason);
    t.regex(msg, new RegExp(`the protocol ${name} of the plugin ${name}`));
  }
  t.deepEqual(await panel.get('/panel/api/inbounds/list'), [], 'nothing of it is saved');

  const inbound = await panel.addInbound({ protocol: 'acme-vless' });
  const corePid = await panel.corePid();
  await panel.addClient('ada', [inbound]);
  const [link = ''] = await panel.get<string[]>('/panel/api/clients/links/ada');
  const client = await startClientCore({ binary: engineBinary(), outbound: outboundOf(link).outbound });
  t.teardown(client.stop);
  const { socksPort } = client;
  t.is(await download({ socksPort, server, bytes: MIB }), MIB);
  t.true(within(await counted(panel, 'ada', MIB), MIB));
  const config = await panel.get<{ inbounds: object[] }>('/panel/api/server/getConfigJson');
  t.like(config.inbounds.at(-1), { protocol: 'vless' });
  const { settings } = config.inbounds.at(-1) as { settings: { clients: { email: string }[] } };
  t.regex(settings.clients[0]?.email ?? '', new RegExp(`^i${inbound}\\.c1~`));

  await panel.get('/panel/api/clients/update/ada', { body: { enable: false } });
  await t.throwsAsync(download({ socksPort, server, bytes: 10 }));
  await panel.leave();
  const next = await openPanel(t, { dataDirectory: folder });
  t.is(await next.corePid(), corePid);
  await next.get('/panel/api/clients/update/ada', { body: { enable: true } });
  t.is(await download({ socksPort, server, bytes: 1000 }), 1000);
});

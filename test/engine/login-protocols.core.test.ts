// HTTP and mixed inbounds on a real core: clients log in by their links, are counted and cut, beside logins of the inbound's own.
import test, { type ExecutionContext } from 'ava';
import { download, freePort, startClientCore } from '../../plugins/engine/xray/test/traffic.js';
import type { ByteServer } from '../../plugins/engine/xray/test/traffic.js';
import {
  connect,
  counted,
  engineBinary,
  engineOf,
  MIB,
  openPanel,
  openServer,
  usageOf,
  within,
} from './user.js';

/** Whether a login of this protocol is served. */
async function serves(
  t: ExecutionContext,
  protocol: string,
  port: number,
  server: ByteServer,
  user: { readonly user: string; readonly pass: string } | undefined,
): Promise<boolean> {
  const settings = { servers: [{ address: '127.0.0.1', port, ...(user && { users: [user] }) }] };
  const core = await startClientCore({ binary: engineBinary(), outbound: { protocol, settings } });
  t.teardown(core.stop);
  return download({ socksPort: core.socksPort, server, bytes: 1000 })
    .then(
      (came) => came === 1000,
      () => false,
    )
    .finally(core.stop);
}

for (const [protocol, kinds] of [
  ['http', ['http']],
  ['mixed', ['socks', 'http']],
] as const)
  test(`${protocol}: clients and logins of its own are served side by side; clients are counted and cut`, async (t) => {
    const server = await openServer(t);
    const panel = await openPanel(t);
    const port = await freePort();
    const accounts = [{ user: 'office', pass: 'p:w' }];
    const added = await panel.call<{ id: number }>('/panel/api/inbounds/add', {
      body: { protocol, port, listen: '127.0.0.1', settings: { accounts } },
    });
    t.regex(added.body.msg, /^inbound added; logins in settings\.accounts are not clients/);
    const { id } = added.body.obj;
    await panel.addClient('ada', [id]);
    await panel.addClient('bob', [id]);
    const core = await panel.corePid();
    const [ada, bob] = [await connect(t, panel, 'ada', server), await connect(t, panel, 'bob', server)];
    await panel.until(() => bob.served(), 'bob is served');

    t.is(await ada.download(MIB), MIB);
    t.true(within(await counted(panel, 'ada', MIB), MIB));
    t.true((await usageOf(panel, 'bob')).down < MIB);
    const office = { user: 'office', pass: 'p:w' };
    for (const kind of kinds) {
      t.true(await serves(t, kind, port, server, office), `${kind}: its own login`);
      t.false(await serves(t, kind, port, server, { ...office, pass: 'wrong' }));
      t.false(await serves(t, kind, port, server, undefined), `${kind}: nobody without a login`);
    }

    await panel.get('/panel/api/clients/update/ada', { body: { enable: false } });
    await panel.until(async () => !(await ada.served()), 'ada is out');
    t.true(await bob.served());
    t.true(await serves(t, kinds[0], port, server, office));
    await panel.get('/panel/api/clients/update/ada', { body: { enable: true } });
    await panel.until(() => ada.served(), 'ada is back');
    t.is(await panel.corePid(), core, 'the core was never restarted');
    t.like(await engineOf(panel), { state: 'running', errorMsg: '' });

    const wrong = await panel.call(`/panel/api/inbounds/update/${id}`, {
      body: { settings: { accounts: [{ user: 'i1.c1', pass: 'x' }] } },
    });
    t.is(wrong.status, 400);
    t.regex(wrong.body.msg, /settings\.accounts.*i1\.c1 is a name of the panel's own/);
  });

test('a mixed inbound without logins serves everybody, and takes no clients', async (t) => {
  const server = await openServer(t);
  const panel = await openPanel(t);
  const port = await freePort();
  const add = (settings: object, onPort: number) =>
    panel.call<{ id: number; protocol: string; settings: object }>('/panel/api/inbounds/add', {
      // The name of older panels.
      body: { protocol: 'socks', port: onPort, listen: '127.0.0.1', settings },
    });
  const added = await add({ auth: 'noauth', udp: true, ip: '127.0.0.1' }, port);
  t.is(added.body.obj.protocol, 'mixed');
  t.regex(added.body.msg, /everybody who reaches this port may use it/);
  const open = added.body.obj.id;
  await panel.until(() => serves(t, 'socks', port, server, undefined), 'everybody is served');

  const refused = await panel.call('/panel/api/clients/add', {
    body: { client: { email: 'ada' }, inboundIds: [open] },
  });
  t.is(refused.status, 422);
  t.is(refused.body.code, 'INBOUNDS_NO_CLIENTS');
  t.regex(refused.body.msg, /set auth to "password"/);
  const closed = (await add({}, await freePort())).body.obj.id;
  await panel.addClient('ada', [closed]);
  const attached = await panel.get<{ attached: string[]; errors: string[] }>(
    '/panel/api/clients/bulkAttach',
    {
      body: { emails: ['ada'], inboundIds: [open] },
    },
  );
  t.deepEqual(attached.attached, []);
  t.regex(attached.errors[0] ?? '', /^inbound \d+: with auth "noauth"/);
  const opened = await panel.call(`/panel/api/inbounds/update/${closed}`, {
    body: { settings: { auth: 'noauth' } },
  });
  t.is(opened.status, 409);
  t.is(opened.body.code, 'CLIENTS_STILL_ATTACHED');
  t.regex(opened.body.msg, /1 clients are attached/);
  t.like(await engineOf(panel), { state: 'running', errorMsg: '' });
});

// Ports, trusted proxies and public addresses as settings: what works at once, what from the next start on.
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { FakeEngine, freePort, refused, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import type { ClientsApi } from '../../clients/contract.js';
import type { SubscriptionApi } from '../../subscription/contract.js';
import { ListenerPortSettings } from '../listener-port.js';
import subscription from '../../subscription/index.js';
import { editDatabase } from '../../../test/harness/edit-database.js';

type Parts = ConstructorParameters<typeof ListenerPortSettings>[0];
const UPDATE = '/panel/api/setting/update';
type Values = Readonly<Record<string, unknown>> & { readonly pinned: Record<string, string> };
const all = (panel: TestPanel): Promise<Values> => panel.get('/panel/api/setting/all', { method: 'POST' });
const say = async (panel: TestPanel, body: object): Promise<string> =>
  (await panel.call(UPDATE, { body })).body.msg;

async function boot(t: ExecutionContext, env: Record<string, string> = {}, dataDirectory?: string) {
  const panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    env,
    ...(dataDirectory !== undefined && { dataDirectory }),
  });
  t.teardown(() => panel[Symbol.asyncDispose]());
  return panel;
}

/** A panel whose ports are not in the environment: the settings have them from the start. */
async function bootWithPorts(t: ExecutionContext) {
  const first = await boot(t);
  await first.stop();
  const [webPort, subPort] = [await freePort(), await freePort()];
  await editDatabase(first.dataDirectory, [
    `INSERT INTO settings VALUES ('webPort', '${webPort}', 0), ('subPort', '${subPort}', 0)`,
  ]);
  const panel = await boot(t, { WEIR_PANEL_PORT: '', WEIR_SUB_PORT: '' }, first.dataDirectory);
  return { panel, webPort, subPort };
}

test('the environment sets the ports and the proxies, and says so', async (t) => {
  const panel = await boot(t, { WEIR_TRUSTED_PROXIES: '10.0.0.0/8, ::1' });
  const values = await all(panel);
  t.like(values, { webPort: 0, subPort: 0, trustedProxyCIDRs: '10.0.0.0/8,::1' });
  t.like(values.pinned, {
    webPort: 'WEIR_PANEL_PORT',
    subPort: 'WEIR_SUB_PORT',
    trustedProxyCIDRs: 'WEIR_TRUSTED_PROXIES',
  });
  for (const change of [{ webPort: 4000 }, { subPort: 4000 }, { trustedProxyCIDRs: '' }])
    await refused(
      t,
      panel,
      UPDATE,
      { body: change },
      { status: 409, code: 'SETTINGS_PINNED', field: Object.keys(change)[0] ?? '' },
    );
});

test('the address of the subscription is a setting, used from the next start on', async (t) => {
  const first = await boot(t, { WEIR_SUB_HOST: '' });
  t.is(
    await say(first, { subListen: '127.0.0.2' }),
    'settings saved; subListen: from the next start of the panel on',
  );
  await first.stop();
  const panel = await boot(t, { WEIR_SUB_HOST: '' }, first.dataDirectory);
  const port = new URL(panel.subscriptionUrl).port;
  t.is((await fetch(`http://127.0.0.2:${port}/`)).status, 404);
  await t.throwsAsync(fetch(`http://127.0.0.1:${port}/`));
});

test('the address of the panel is a setting, used from the next start on', async (t) => {
  const first = await boot(t, { WEIR_HOST: '' });
  t.is((await all(first))['webListen'], '127.0.0.1');
  t.is(
    await say(first, { webListen: '127.0.0.2' }),
    'settings saved; webListen: from the next start of the panel on',
  );
  await first.stop();
  const panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    env: { WEIR_HOST: '' },
    dataDirectory: first.dataDirectory,
    anonymous: true,
  });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const { port } = new URL(panel.url);
  t.is((await fetch(`http://127.0.0.2:${port}/healthz`)).status, 200);
  await t.throwsAsync(fetch(`http://127.0.0.1:${port}/healthz`));
  t.is(panel.kernel.listeners.panelUrl.split('/')[2], `127.0.0.2:${port}`);
});

test('an empty address is all addresses, and the log warns of passwords without encryption', async (t) => {
  const first = await boot(t, { WEIR_HOST: '' });
  t.false(first.log.some((line) => line.includes('unencrypted')));
  await say(first, { webListen: '' });
  await first.stop();
  const panel = await boot(t, { WEIR_HOST: '' }, first.dataDirectory);
  const { port } = new URL(panel.url);
  for (const host of ['127.0.0.1', '127.0.0.2'])
    t.is((await fetch(`http://${host}:${port}/healthz`)).status, 200);
  t.true(panel.log.some((line) => line.includes('the panel sends passwords and cookies unencrypted')));
});

test('an address on which the panel could not start again is refused, and so is one beside the environment', async (t) => {
  const panel = await boot(t, { WEIR_HOST: '', WEIR_SUB_HOST: '' });
  for (const field of ['webListen', 'subListen']) {
    const body = { [field]: '192.0.2.1' };
    const says = `${field}: the panel could not listen on 192.0.2.1`;
    await refused(t, panel, UPDATE, { body }, { status: 409, code: 'SETTINGS_ADDRESS', field, says });
    for (const wrong of ['127.0.0.1:80', 'http://x', ' ', 7])
      await refused(
        t,
        panel,
        UPDATE,
        { body: { [field]: wrong } },
        { status: 400, code: 'KERNEL_INVALID', field },
      );
  }
  const pinned = await boot(t, { WEIR_HOST: 'localhost' });
  t.is((await all(pinned)).pinned['webListen'], 'WEIR_HOST');
  await refused(
    t,
    pinned,
    UPDATE,
    { body: { webListen: '' } },
    { status: 409, code: 'SETTINGS_PINNED', field: 'webListen' },
  );
});

test('the address of another machine: the log says how to start, and WEIR_HOST takes precedence', async (t) => {
  const first = await boot(t, { WEIR_HOST: '' });
  await first.stop();
  await editDatabase(first.dataDirectory, [
    `INSERT INTO settings VALUES ('webListen', '"192.0.2.1"', 0), ('allowedHosts', '["a.example"]', 0)`,
  ]);
  const { dataDirectory } = first;
  await t.throwsAsync(boot(t, { WEIR_HOST: '' }, dataDirectory), { message: /192\.0\.2\.1/ });
  const panel = await boot(t, { WEIR_HOST: '127.0.0.1' }, dataDirectory);
  t.is((await all(panel))['webListen'], '127.0.0.1');
  const said: string[] = [];
  const parts = { log: { error: (text: string) => said.push(text) } };
  const places = new ListenerPortSettings(parts as unknown as Parts);
  for (const address of ['', '127.0.0.1', '192.0.2.1']) await places.warnOf(address);
  t.is(said.length, 1);
  t.regex(said[0] ?? '', /WEIR_HOST=127\.0\.0\.1/);
});

test('port and address are tried together', async (t) => {
  const first = await boot(t, { WEIR_HOST: '' });
  await first.stop();
  const webPort = await freePort();
  await editDatabase(first.dataDirectory, [`INSERT INTO settings VALUES ('webPort', '${webPort}', 0)`]);
  const panel = await boot(t, { WEIR_HOST: '', WEIR_PANEL_PORT: '' }, first.dataDirectory);
  for (const [port, host] of [
    [webPort, '127.0.0.2'],
    [await freePort(), '127.0.0.3'],
  ] as const) {
    const other = createServer().listen(port, host);
    await once(other, 'listening');
    t.teardown(() => other.close());
    const here = { webListen: host, ...(port !== webPort && { webPort: port }) };
    const [field, code] =
      port === webPort ? ['webListen', 'SETTINGS_ADDRESS'] : ['webPort', 'SETTINGS_PORT_TAKEN'];
    await refused(t, panel, UPDATE, { body: here }, { status: 409, code, field, says: 'EADDRINUSE' });
    if (port !== webPort) t.regex(await say(panel, { webPort: port }), /^settings saved; webPort:/);
    else
      for (const webListen of ['localhost', '0.0.0.0', '127.0.0.1'])
        t.regex(
          await say(panel, { webListen }),
          /^settings saved; webListen:/,
          'the panel itself holds the port',
        );
  }
});

test('the ports of panel and subscription are settings, used from the next start on', async (t) => {
  const { panel, webPort, subPort } = await bootWithPorts(t);
  t.is(panel.url, `http://127.0.0.1:${webPort}`);
  t.is(panel.subscriptionUrl, `http://127.0.0.1:${subPort}`);
  const [nextWeb, nextSub] = [await freePort(), await freePort()];
  t.is(
    await say(panel, { webPort: nextWeb, subPort: nextSub, pageSize: 30 }),
    'settings saved; webPort, subPort: from the next start of the panel on',
  );
  t.is(panel.url, `http://127.0.0.1:${webPort}`, 'not yet');
  t.is(await say(panel, { pageSize: 30 }), 'nothing has changed');
  await panel.stop();
  const next = await boot(t, { WEIR_PANEL_PORT: '', WEIR_SUB_PORT: '' }, panel.dataDirectory);
  t.is(next.url, `http://127.0.0.1:${nextWeb}`);
  t.is(next.subscriptionUrl, `http://127.0.0.1:${nextSub}`);
});

test('a port with which the panel could not start again is refused', async (t) => {
  const { panel, webPort, subPort } = await bootWithPorts(t);
  const other = createServer().listen(0);
  await once(other, 'listening');
  t.teardown(() => other.close());
  const taken = (other.address() as AddressInfo).port;
  const cases: readonly (readonly [change: object, field: string])[] = [
    [{ webPort: subPort }, 'webPort'],
    [{ subPort: webPort }, 'subPort'],
    [{ webPort: 4000, subPort: 4000 }, 'webPort'],
    [{ webPort: taken }, 'webPort'],
    [{ subPort: taken }, 'subPort'],
  ];
  for (const [body, field] of cases)
    await refused(t, panel, UPDATE, { body }, { status: 409, code: 'SETTINGS_PORT_TAKEN', field });
  for (const port of [-1, 65_536, 1.5, 'x'])
    await refused(
      t,
      panel,
      UPDATE,
      { body: { webPort: port } },
      { status: 400, code: 'KERNEL_INVALID', field: 'webPort' },
    );
  // The two may change places: both listeners close before they open again.
  t.regex(await say(panel, { webPort: subPort, subPort: webPort }), /^settings saved/);
});

test('an inbound cannot take the port on which the panel will be after its next start', async (t) => {
  const { panel } = await bootWithPorts(t);
  const [webPort, subPort] = [await freePort(), await freePort()];
  await say(panel, { webPort, subPort });
  for (const [port, says] of [
    [webPort, "the panel's own"],
    [subPort, 'listener subscription'],
  ] as const)
    await refused(
      t,
      panel,
      '/panel/api/inbounds/add',
      { body: { protocol: 'vless', listen: '127.0.0.1', port } },
      { status: 409, code: 'INBOUNDS_PORT_TAKEN', field: 'port', says },
    );
});

test('forwarded headers count from the proxies of the setting, at once', async (t) => {
  const panel = await boot(t);
  const id = await panel.addInbound({ listen: '' });
  await panel.addClient('ada', [id]);
  const hostOf = async (): Promise<string> => {
    const { body } = await panel.call<string[]>('/panel/api/clients/links/ada', {
      headers: { 'x-forwarded-host': 'outer.example' },
    });
    return new URL(String(body.obj[0]).split('#')[0] ?? '').hostname;
  };
  t.is(await hostOf(), '127.0.0.1');
  await say(panel, { trustedProxyCIDRs: '127.0.0.1/32' });
  t.is(await hostOf(), 'outer.example');
  await refused(
    t,
    panel,
    UPDATE,
    { body: { trustedProxyCIDRs: '10.0.0.0/8, somewhere' } },
    { status: 400, code: 'KERNEL_INVALID', field: 'trustedProxyCIDRs', says: 'somewhere' },
  );
  await say(panel, { trustedProxyCIDRs: '' });
  t.is(await hostOf(), '127.0.0.1');
});

test('subEnable stops and serves subscriptions at once, and subURI is the place that users are told', async (t) => {
  const observed = servicesOf<{ readonly renderer: SubscriptionApi; readonly clients: ClientsApi }>(
    subscription,
  );
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, observed.plugin] });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const id = await panel.addInbound();
  const { subId } = await panel.addClient('ada', [id]);
  const url = (): string | undefined => {
    const { renderer, clients } = observed.services;
    const row = clients.bySubId(subId);
    return row && renderer.url('links', row, 'panel.example');
  };
  const { subPath } = (await all(panel)) as unknown as { readonly subPath: string };
  const status = async () => (await fetch(`${panel.subscriptionUrl}${subPath}${subId}`)).status;
  t.is(await status(), 200);
  t.is(url(), `http://panel.example:${new URL(panel.subscriptionUrl).port}${subPath}${subId}`);
  await say(panel, { subEnable: false, subURI: 'https://sub.example.com/s' });
  t.is(await status(), 404);
  const shown = () => panel.get('/panel/api/setting/defaultSettings', { method: 'POST' });
  t.like(await shown(), { subEnable: false, subURI: 'https://sub.example.com/s' });
  t.is(url(), undefined);
  await say(panel, { subEnable: true });
  t.is(await status(), 200);
  t.is(url(), `https://sub.example.com/s/${subId}`);
  for (const subURI of [
    'sub.example.com',
    'ftp://a.example/',
    'https://a.example/?x=1',
    'https://u@a.example/',
  ])
    await refused(
      t,
      panel,
      UPDATE,
      { body: { subURI } },
      { status: 400, code: 'KERNEL_INVALID', field: 'subURI' },
    );
});

test('the values of a fresh panel are shown, and those that it generates are marked', async (t) => {
  const panel = await boot(t);
  const values = await panel.get<Record<string, string>>('/panel/api/setting/factoryDefaults', {
    method: 'POST',
  });
  t.like(values, {
    webBasePath: '<random>',
    subPath: '<random>',
    pageSize: '25',
    webPort: '2053',
    subPort: '2096',
  });
});

// The list of hosts under which the panel answers: by setting, by variable, and the way back in.
import test, { type ExecutionContext } from 'ava';
import { request } from 'node:http';
import { FakeEngine, refused, TestPanel } from '../../../test/harness/index.js';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import { weirCommand } from '../../../test/harness/weir-command.js';
import { AllowedHosts } from '../allowed-hosts.js';

const UPDATE = '/panel/api/setting/update';
const ALL = '/panel/api/setting/all';
type Values = { readonly allowedHosts: string[]; readonly pinned: Record<string, string> };

async function boot(t: ExecutionContext, env: Record<string, string> = {}) {
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], env });
  t.teardown(() => panel[Symbol.asyncDispose]());
  return panel;
}
interface Asked {
  readonly status: number;
  readonly msg: string;
  readonly code: string;
}
/** As the admin, under another host. */
function ask(
  panel: { url: string; cookie: string; csrf: string },
  host: string,
  {
    path = '/panel/api/inbounds/list',
    body,
    headers = {},
  }: {
    path?: string;
    body?: unknown;
    headers?: Record<string, string>;
  } = {},
): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const call = request(
      panel.url + path,
      {
        method: body === undefined ? 'GET' : 'POST',
        agent: false,
        headers: {
          host,
          cookie: panel.cookie,
          'x-csrf-token': panel.csrf,
          'content-type': 'application/json',
          ...headers,
        },
      },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () =>
          resolve({
            msg: '',
            code: '',
            ...(JSON.parse(text || '{}') as object),
            status: response.statusCode ?? 0,
          }),
        );
      },
    )
      .on('upgrade', (_response, socket) => {
        socket.destroy();
        resolve({ status: 101, msg: '', code: '' });
      })
      .on('error', reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
const statuses = (panel: TestPanel, hosts: readonly string[]) =>
  Promise.all(hosts.map(async (host) => (await ask(panel, host)).status));

test('the setting limits the hosts at once, and names itself in the refusal', async (t) => {
  const panel = await boot(t, { WEIR_PUBLIC_HOST: 'public.example' });
  t.is((await ask(panel, 'evil.example')).status, 200);
  await panel.get(UPDATE, {
    body: { allowedHosts: ['Panel.Example.', '[2001:DB8::7]'], subDomain: 'sub.example' },
  });
  t.deepEqual((await panel.get<Values>(ALL, { method: 'POST' })).allowedHosts, [
    'panel.example',
    '2001:db8::7',
  ]);
  t.deepEqual(
    await statuses(panel, [
      'panel.example:80',
      '[2001:db8::7]',
      '127.0.0.1',
      'localhost',
      'public.example',
      'sub.example',
    ]),
    [200, 200, 200, 200, 200, 200],
  );
  t.deepEqual(await statuses(panel, ['evil.example', '198.51.100.7', 'x.panel.example']), [421, 421, 421]);
  t.regex((await ask(panel, 'evil.example')).msg, /"evil\.example".*allowedHosts.*weir hosts reset/);
  await panel.get(UPDATE, { body: { subDomain: '' } });
  t.is((await ask(panel, 'sub.example')).status, 421);
  await panel.get(UPDATE, { body: { allowedHosts: [] } });
  t.is((await ask(panel, 'evil.example')).status, 200);
});

test('WebSockets and socket.io are held to the same list', async (t) => {
  const panel = await boot(t, { WEIR_ALLOWED_HOSTS: 'panel.example' });
  const headers = {
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  };
  for (const path of ['/ws', '/socket.io/?EIO=4&transport=websocket']) {
    t.is((await ask(panel, 'panel.example:99', { path, headers })).status, 101, path);
    const { status, code, msg } = await ask(panel, 'evil.example', { path, headers });
    t.deepEqual([status, code], [421, 'KERNEL_HOST'], path);
    t.regex(msg, /WEIR_ALLOWED_HOSTS/);
  }
});

test('the variable holds the setting and is named in the refusal', async (t) => {
  const panel = await boot(t, { WEIR_ALLOWED_HOSTS: ' Panel.example , 198.51.100.7,' });
  const { allowedHosts, pinned } = await panel.get<Values>(ALL, { method: 'POST' });
  t.deepEqual(allowedHosts, ['panel.example', '198.51.100.7']);
  t.is(pinned['allowedHosts'], 'WEIR_ALLOWED_HOSTS');
  t.deepEqual(
    await statuses(panel, ['panel.example', '198.51.100.7:1', '127.0.0.1', 'evil.example']),
    [200, 200, 200, 421],
  );
  t.regex((await ask(panel, 'evil.example')).msg, /WEIR_ALLOWED_HOSTS/);
  await refused(
    t,
    panel,
    UPDATE,
    { body: { allowedHosts: [] } },
    { status: 409, code: 'SETTINGS_PINNED', field: 'allowedHosts', says: 'WEIR_ALLOWED_HOSTS' },
  );
  await t.throwsAsync(boot(t, { WEIR_ALLOWED_HOSTS: 'panel.example:443' }), {
    message: /WEIR_ALLOWED_HOSTS: "panel\.example:443" is neither a host name nor an address/,
  });
});

test('nobody shuts himself out: a save that excludes the host it came under is refused', async (t) => {
  const panel = await boot(t, { WEIR_TRUSTED_PROXIES: '127.0.0.1' });
  const save = (host: string, body: object, headers: Record<string, string> = {}) =>
    ask(panel, host, { path: UPDATE, body, headers });
  const shutOut = { status: 409, code: 'SETTINGS_OWN_HOST' };
  const first = await save('panel.example:2053', { allowedHosts: ['other.example'] });
  t.like(first, shutOut);
  t.regex(first.msg, /allowedHosts.*"panel\.example"/);
  t.like(
    await save('127.0.0.1', { allowedHosts: ['other.example'] }, { 'x-forwarded-host': 'panel.example' }),
    shutOut,
  );
  t.like(
    await save('inner.example', { allowedHosts: ['panel.example'] }, { 'x-forwarded-host': 'panel.example' }),
    shutOut,
    'the host that the proxy asks under counts as well',
  );
  t.deepEqual((await panel.get<Values>(ALL, { method: 'POST' })).allowedHosts, []);
  t.is(
    (await save('panel.example', { allowedHosts: ['other.example'], subDomain: 'panel.example' })).status,
    200,
  );
  const second = await save('panel.example', { subDomain: '' });
  t.like(second, shutOut);
  t.regex(second.msg, /^subDomain: /);
  t.is((await save('other.example', { subDomain: '' })).status, 200);
  t.is((await ask(panel, 'panel.example')).status, 421);
});

test('what is no list of hosts is refused by name', async (t) => {
  const panel = await boot(t);
  for (const wrong of ['https://panel.example', ['panel.example/x'], ['a"b'], [5], 5, ['']])
    await refused(
      t,
      panel,
      UPDATE,
      { body: { allowedHosts: wrong } },
      {
        status: 400,
        code: 'KERNEL_INVALID',
        field: 'allowedHosts',
        says: 'neither a host name nor an address',
      },
    );
  await refused(
    t,
    panel,
    UPDATE,
    { body: { allowedHosts: Array.from({ length: 101 }, (_, i) => `h${i}.example`) } },
    { status: 400, code: 'KERNEL_INVALID', field: 'allowedHosts', says: 'more than 100' },
  );
});

test('the command line lets everybody in again', async (t) => {
  const panel = await PanelProcess.start({ env: { WEIR_ENGINE_BIN: '/nowhere/xray' } });
  t.teardown(() => panel.dispose());
  await panel.get(UPDATE, { body: { allowedHosts: ['panel.example'] } });
  t.is((await ask(panel, 'other.example')).status, 421);
  const { code, complained } = await weirCommand(panel.dataDirectory, ['hosts', 'reset']);
  t.deepEqual([code, complained], [0, '']);
  t.is((await ask(panel, 'other.example')).status, 200);
});

test('the address at which the panel listens is allowed until it listens elsewhere', (t) => {
  let allowed: readonly string[] = [];
  const values: Record<string, unknown> = { webListen: '203.0.113.6', allowedHosts: ['a.example'] };
  const parts = {
    store: { names: () => Object.keys(values), known: (name: string) => ({ value: values[name] }) },
    contributions: () => [{ value: { settings: ['webListen'] } }],
    listeners: {
      places: () => [
        { name: 'panel', host: '203.0.113.5', port: 1 },
        { name: 'subscription', host: '203.0.113.7', port: 2 },
      ],
      allowHosts: (hosts: readonly string[]) => (allowed = hosts),
    },
  };
  const hosts = new AllowedHosts(parts as unknown as ConstructorParameters<typeof AllowedHosts>[0]);
  hosts.apply();
  t.deepEqual(allowed, ['a.example', '203.0.113.6', '203.0.113.5']);
  values['allowedHosts'] = [];
  hosts.apply();
  t.deepEqual(allowed, [], 'every host');
});

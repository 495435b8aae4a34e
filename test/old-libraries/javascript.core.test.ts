// 3xui-api-client of npm, unchanged, against a panel with a real core: every method does here what it says, or calls an
// endpoint that is still to come.
import test from 'ava';
import { TOTP } from 'otpauth';
import { ADMIN, freePort } from '../harness/api.js';
import { connect, counted, openServer, spawnPanel, teardownOfFile } from '../engine/user.js';
import { bulk } from './javascript/bulk.js';
import { clients } from './javascript/clients.js';
import { inbounds } from './javascript/inbounds.js';
import { nodes } from './javascript/nodes.js';
import { server } from './javascript/server.js';
import { sessions } from './javascript/sessions.js';
import {
  type Checks,
  forgetSessions,
  libraryFor,
  methodsOfClass,
  type Reply,
  World,
} from './javascript/world.js';
import { JAVASCRIPT, JAVASCRIPT_LOCAL } from './methods.js';
import { openWithSources } from './sources.js';

const file = teardownOfFile(test);
file.teardown(forgetSessions);
let opened: Promise<World> | undefined;
const world = (): Promise<World> =>
  (opened ??= (async () => {
    const panel = await openWithSources(file);
    return new World(panel, libraryFor(panel));
  })());

/** These have a test of their own below. */
const APART = [
  'getOnlines',
  'getOnlineClients',
  'getModernLastOnline',
  'getLastOnline',
  'restartPanel',
  'importDB',
];
const checks: Checks = { ...clients, ...bulk, ...inbounds, ...nodes, ...server, ...sessions };
const named = (works: boolean) =>
  Object.entries(JAVASCRIPT).flatMap(([name, method]) => (method.works === works ? [name] : []));

test('every public method is in the table, and every one that works has a check', (t) => {
  t.deepEqual(methodsOfClass().sort(), [...Object.keys(JAVASCRIPT), ...JAVASCRIPT_LOCAL].sort());
  t.deepEqual([...Object.keys(checks), ...APART].sort(), named(true).sort());
});

for (const [name, check] of Object.entries(checks))
  test.serial(`${name} works`, async (t) => check(t, await world()));

test.serial('what is still to come is answered as a missing endpoint', async (t) => {
  const { panel } = await world();
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'missing' },
  });
  const library = libraryFor(panel, { token });
  const given: Record<string, unknown[]> = {
    updateXrayConfig: [{}],
    getNodeHistory: [1, 'cpu', 60],
  };
  for (const name of named(false)) {
    const error = await t.throwsAsync(
      async () => library[name]?.(...(given[name] ?? [1, {}])),
      undefined,
      name,
    );
    const { response } = error as Error & { response?: { status: number; data: unknown } };
    t.is(
      response?.status,
      404,
      `${name}: ${error?.message}; if the endpoint is there now, add a check of it`,
    );
    const text = Buffer.isBuffer(response?.data) ? response.data.toString() : JSON.stringify(response?.data);
    t.true(text.includes('KERNEL_NOT_FOUND'), `${name}: ${text}`);
  }
});

test.serial('a token works for all of them, without a login', async (t) => {
  const { panel } = await world();
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'shop' },
  });
  const withToken = new World(panel, libraryFor(panel, { token }));
  for (const name of [
    'getClient',
    'addModernClient',
    'updateModernClient',
    'addClient',
    'updateInbound',
    'addInbound',
  ])
    await checks[name]?.(t, withToken);
  const wrong = libraryFor(panel, { token: `${token}x` });
  await t.throwsAsync(async () => wrong['getClients']?.(), { message: /API Token is invalid/ });
});

test.serial('a library whose session has ended logs in again and goes on', async (t) => {
  const { panel } = await world();
  const library = libraryFor(panel);
  const email = (await (await world()).client()).email;
  t.like(await library['getClients']?.(), { success: true });
  await panel.get('/panel/api/access/sessions/revokeOthers', { method: 'POST' });
  t.like(await library['getClients']?.(), { success: true });
  await panel.get('/panel/api/access/sessions/revokeOthers', { method: 'POST' });
  t.like(await library['updateModernClient']?.(email, { email, comment: 'again' }), { success: true });
  t.is((await (await world()).stored(email)).comment, 'again');
});

test.serial('errors of callers are replies that it reads', async (t) => {
  const { library, panel } = await world();
  const before = (await panel.call('/panel/api/clients/list')).text;
  const wrong: Record<string, unknown[]> = {
    getClient: ['nobody'],
    getInbound: [999_999],
    deleteInbound: ['x'],
    deleteModernClient: [''],
    updateModernClient: ['nobody', { email: 'nobody' }],
    addModernClient: [{ client: { email: '', totalGB: 0 }, inboundIds: [] }],
    addInbound: [{ port: 1, protocol: '', settings: '' }],
    updateInbound: [null, {}],
    addClient: [{ id: 999_999, settings: '{"clients":[{"email":"x"}]}' }],
    deleteClient: [999_999, 'nobody'],
    bulkDeleteModernClients: [{ emails: null }],
    attachClientToInbounds: ['nobody', { inboundIds: [999_999] }],
  };
  for (const [name, args] of Object.entries(wrong)) {
    const outcome = await Promise.resolve(library[name]?.(...args)).catch((error: unknown) => error);
    const reply = outcome as { success?: boolean; msg?: string; response?: { data?: typeof reply } };
    const read = reply.response?.data ?? reply;
    t.is(read.success, false, `${name}: ${String(outcome)}`);
    t.true((read.msg ?? '').length > 3, name);
  }
  t.is((await panel.call('/panel/api/clients/list')).text, before, 'nothing has changed');
  t.like(await library['getClients']?.(), { success: true }, 'and it is still logged in');
});

test.serial('who is online and when each client was', async (t) => {
  const { panel } = await world();
  const { email } = await (await world()).client();
  const idle = (await (await world()).client()).email;
  const user = await connect(t, panel, email, await openServer(t));
  await user.download(200_000);
  await counted(panel, email, 200_000);
  for (const method of ['getOnlines', 'getOnlineClients']) {
    const emails = await (await world()).call<string[]>(method);
    t.deepEqual([emails.includes(email), emails.includes(idle)], [true, false], method);
  }
  const ours = await panel.get<Record<string, number>>('/panel/api/clients/lastOnline', { method: 'POST' });
  for (const method of ['getModernLastOnline', 'getLastOnline']) {
    const theirs = await (await world()).call<typeof ours>(method);
    t.is(theirs[email], ours[email], method);
  }
  const { down } = await (await world()).call<{ down: number }>('getClientTraffic', email);
  t.true(down >= 200_000);
});

test.serial('with two-factor login, a password is not enough, and a token is', async (t) => {
  const { panel } = await world();
  const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
  const code = () => new TOTP({ secret }).generate();
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'two factors' },
  });
  const on = {
    twoFactorEnable: true,
    twoFactorToken: secret,
    password: ADMIN.password,
    twoFactorCode: code(),
  };
  const codes = await panel.get<{ recoveryCodes?: string[] } | null>('/panel/api/setting/update', {
    body: on,
  });
  const library = libraryFor(panel);
  t.is(await (await world()).call('getTwoFactorEnable'), true);
  await t.throwsAsync(async () => library['login']?.());
  t.like(await libraryFor(panel, { token })['getClients']?.(), { success: true });
  const [recovery = ''] = codes?.recoveryCodes ?? [];
  await panel.get('/panel/api/setting/update', { body: { twoFactorEnable: false, twoFactorCode: recovery } });
});

test.serial('restartPanel works', async (t) => {
  const panel = await spawnPanel(t, {
    env: { WEIR_PRESET: 'full', WEIR_PANEL_PORT: String(await freePort()) },
  });
  const library = libraryFor(panel);
  t.like(await library['restartPanel']?.(), { success: true });
  await panel.until(() => panel.starts === 2, 'the panel starts again');
  t.like(await library['getClients']?.(), { success: true });
});

test.serial('importDB works', async (t) => {
  const panel = await spawnPanel(t, {
    env: { WEIR_PRESET: 'full', WEIR_PANEL_PORT: String(await freePort()) },
  });
  const library = libraryFor(panel);
  const id = await panel.addInbound();
  await panel.addClient('before', [id]);
  const copied: Reply<string> | undefined = await library['getDb']?.();
  await panel.addClient('after', [id]);
  const fields = new FormData();
  fields.append('db', new Blob([Buffer.from(copied?.obj ?? '', 'latin1')]), 'x-ui.db');
  const form = new Response(fields);
  // The library asks the form for its headers, as the package form-data has them.
  const body = Object.assign(Buffer.from(await form.arrayBuffer()), {
    getHeaders: () => ({ 'Content-Type': form.headers.get('content-type') }),
  });
  t.like(await library['importDB']?.(body), { success: true });
  await panel.until(() => panel.starts === 2, 'the panel starts again');
  await panel.login();
  t.is((await panel.call('/panel/api/clients/get/before')).status, 200);
  t.is((await panel.call('/panel/api/clients/get/after')).status, 404);
});

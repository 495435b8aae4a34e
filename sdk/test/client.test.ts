// The generated client at work on a panel: typed calls, both ways to be let in, failures as errors.
import test from 'ava';
import { FakeEngine } from '../../test/harness/fake-engine.js';
import { ADMIN, freePort, TestPanel } from '../../test/harness/panel.js';
import { type ClientsAddInput, type ClientsListReply, PanelFailure, Weir } from '../index.js';

const boot = (env: Record<string, string> = {}) =>
  TestPanel.boot({ plugins: [new FakeEngine().plugin], env });

async function withToken(panel: TestPanel): Promise<Weir> {
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'sdk' },
  });
  return new Weir({ url: `${panel.url}/`, token });
}

test('with an API token: create, list, change, delete', async (t) => {
  await using panel = await boot();
  const weir = await withToken(panel);
  const { id, port } = await weir.inbounds.add({
    body: { protocol: 'vless', listen: '127.0.0.1', port: await freePort(), remark: 'sdk' },
  });
  t.true(port > 0);
  const added: ClientsAddInput = {
    body: { client: { email: 'ada+1@example.org', totalGB: 5 }, inboundIds: [id] },
  };
  t.is(await weir.clients.add(added), 'client added');
  const page: ClientsListReply = await weir.clients.list({
    query: { page: 1, search: 'ada' },
  });
  t.is(page.items[0]?.email, 'ada+1@example.org');
  t.is((await weir.clients.list()).total, 1);
  await weir.clients.update({ email: 'ada+1@example.org', body: { comment: 'changed' } });
  t.like(await weir.clients.get({ email: 'ada+1@example.org' }), { comment: 'changed', totalGB: 5 });
  await weir.clients.delete({ email: 'ada+1@example.org' });
  t.is((await weir.clients.list()).total, 0);
});

test('with a session: signIn brings cookie and CSRF token along', async (t) => {
  await using panel = await boot({ WEIR_BASE_PATH: '/' });
  const weir = new Weir({ url: panel.url });
  await t.throwsAsync(weir.settings.all(), { instanceOf: PanelFailure, message: /log in/ });
  await weir.signIn(ADMIN);
  t.is((await weir.settings.all()).webBasePath, '/');
  t.is(await weir.settings.update({ body: { sessionMaxAge: 99 } }), null);
  t.is((await weir.settings.all()).sessionMaxAge, 99);
  t.is(await weir.access.logout(), 'logged out');
  t.is((await t.throwsAsync(weir.settings.all(), { instanceOf: PanelFailure })).status, 401);
});

test('what the panel refuses is an error with status, code and the fields', async (t) => {
  await using panel = await boot();
  const weir = await withToken(panel);
  const missing = await t.throwsAsync(weir.clients.get({ email: 'nobody' }), {
    instanceOf: PanelFailure,
  });
  t.like(missing, { status: 404, code: 'CLIENTS_NOT_FOUND' });
  t.regex(missing.requestId, /^[0-9a-f-]{36}$/);
  const wrong = await t.throwsAsync(
    weir.clients.add({ body: { client: { email: 'x', totalGB: -1 }, inboundIds: [1] } }),
    { instanceOf: PanelFailure },
  );
  t.is(wrong.status, 400);
  t.deepEqual(
    wrong.issues.map(({ path }) => path),
    ['client.totalGB'],
  );
  await t.throwsAsync(new Weir({ url: panel.url, token: 'wrong' }).settings.all(), {
    instanceOf: PanelFailure,
    message: /token/,
  });
  const elsewhere = await t.throwsAsync(
    new Weir({
      url: panel.url,
      token: 'x',
      fetch: async () => new Response('<html>', { status: 502 }),
    }).settings.all(),
    {
      instanceOf: PanelFailure,
    },
  );
  t.like(elsewhere, { status: 502 });
  t.regex(elsewhere.message, /no JSON/);
});

test('a name that is a step between folders makes no other call of it', async (t) => {
  const sent: string[] = [];
  const weir = new Weir({
    url: 'http://panel.test',
    token: 'x',
    fetch: async (input) => {
      sent.push(new URL(String(input)).pathname);
      return Response.json({ success: true, msg: 'done', obj: null });
    },
  });
  // Without a check, the first one clears all devices of a client whose name is 7.
  for (const email of ['.', '..'])
    await t.throwsAsync(weir.clients.deleteDevice({ email, deviceId: 7 }), {
      instanceOf: TypeError,
      message: /^email: "\.+" cannot stand in an address$/,
    });
  t.deepEqual(sent, []);
  await weir.clients.deleteDevice({ email: '...', deviceId: 7 });
  t.deepEqual(sent, ['/panel/api/clients/hwids/.../7']);
});

test('the compiler knows what calls take and give', async (t) => {
  const sent: string[] = [];
  const weir = new Weir({
    url: 'http://panel.test/base/',
    token: 'x',
    fetch: async (url, init) => {
      sent.push(`${init?.method} ${String(url)}`);
      return Response.json({ success: true, msg: 'done', obj: [] });
    },
  });
  // @ts-expect-error a client needs an email
  await weir.clients.add({ body: { client: {}, inboundIds: [1] } });
  // @ts-expect-error inbounds have numbers
  await weir.inbounds.delete({ id: 'one' });
  // @ts-expect-error a body is needed
  await weir.inbounds.add();
  // @ts-expect-error there is no such call
  t.throws(() => weir.inbounds.explode());
  const message: string = await weir.clients.delete({ email: 'a/b c' });
  t.is(message, 'done');
  t.deepEqual(sent, [
    'POST http://panel.test/base/panel/api/clients/add',
    'POST http://panel.test/base/panel/api/inbounds/del/one',
    'POST http://panel.test/base/panel/api/inbounds/add',
    'POST http://panel.test/base/panel/api/clients/del/a%2Fb%20c',
  ]);
});

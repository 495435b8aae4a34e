// A provider that lies, is somebody else, hangs, or sends without end.
import test from 'ava';
import { TestPanel } from '../../../test/harness/panel.js';
import { ScriptedProvider } from './scripted-provider.js';
import { AT, troubleIn, Visitor } from './visitor.js';
import { bootPanel, settingsFor } from './world.js';

const DOCUMENT = '/.well-known/openid-configuration';

async function boot(options: { env?: Readonly<Record<string, string>>; settings?: object } = {}) {
  const panel = await bootPanel(options);
  const provider = await ScriptedProvider.start();
  const set = (values: object) => panel.get('/panel/api/setting/update', { body: values });
  await set(settingsFor(provider.issuer, `${panel.url}/`, { openidClaim: 'name', ...options.settings }));
  /** Comes back from the provider: its ID token has the nonce that it was sent, unless the test says otherwise. */
  const logIn = async (claims: object = {}, query: object = {}): Promise<string> => {
    const visitor = new Visitor(panel);
    const { body, text } = await visitor.call<{ url: string } | null>(`${AT}/login`, { body: {} });
    if (!body.obj) return body.code ?? text;
    const asked = new URL(body.obj.url).searchParams;
    provider.claims = { nonce: asked.get('nonce'), name: 'admin', ...claims };
    const answered = new URLSearchParams({ code: 'c', state: asked.get('state') ?? '', ...query });
    const location = await visitor.comeBack(`${panel.url}${AT}/callback?${answered}`);
    return troubleIn(location) || String(await visitor.who());
  };
  return {
    panel,
    provider,
    set,
    logIn,
    async [Symbol.asyncDispose]() {
      await panel[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

const now = (): number => Math.floor(Date.now() / 1000);

for (const [what, claims] of Object.entries({
  'another nonce': { nonce: 'of another login' },
  'no nonce': { nonce: undefined },
  'an expired token': { exp: now() - 3600, iat: now() - 7200 },
  'a token for another client': { aud: 'another' },
  'a token of another issuer': { iss: 'https://elsewhere.example' },
  'no subject': { sub: undefined },
  'a subject that is no text': { sub: 1 },
  'a subject of a thousand letters': { sub: 'x'.repeat(1000) },
}))
  test(`lets nobody in with ${what}`, async (t) => {
    await using world = await boot();
    t.is(await world.logIn(claims), 'OPENID_NOT_PROVEN');
    t.is(await world.logIn(), 'admin');
  });

test('lets nobody in by keys that the provider has not published, or by none', async (t) => {
  await using world = await boot();
  const { provider } = world;
  const right = provider.signer;
  provider.signer = ScriptedProvider.otherKey();
  t.is(await world.logIn(), 'OPENID_NOT_PROVEN');
  provider.signer = right;
  provider.header = { alg: 'none' };
  t.is(await world.logIn(), 'OPENID_NOT_PROVEN');
  provider.header = { alg: 'HS256' };
  t.is(await world.logIn(), 'OPENID_NOT_PROVEN');
  provider.header = { kid: 'two' };
  t.is(await world.logIn(), 'OPENID_NOT_PROVEN');
  provider.header = {};
  t.is(await world.logIn(), 'admin');
});

test('an answer of another provider is refused, where this one names itself', async (t) => {
  await using world = await boot();
  t.is(await world.logIn({}, { iss: 'https://elsewhere.example' }), 'OPENID_NOT_PROVEN');
  t.is(await world.logIn({}, { iss: world.provider.issuer }), 'admin');
});

test('the same subject of two issuers is two accounts', async (t) => {
  await using world = await boot();
  t.is(await world.logIn(), 'admin');
  await using other = await ScriptedProvider.start();
  await world.set({ openidIssuer: other.issuer, openidClaim: '' });
  const visitor = new Visitor(world.panel);
  const { body } = await visitor.call<{ url: string }>(`${AT}/login`, { body: {} });
  const asked = new URL(body.obj.url).searchParams;
  other.claims = { nonce: asked.get('nonce') };
  const back = `${world.panel.url}${AT}/callback?code=c&state=${asked.get('state')}`;
  t.is(troubleIn(await visitor.comeBack(back)), 'OPENID_UNLINKED');
});

test('a document that names another issuer, or a readable place, is not used', async (t) => {
  for (const document of [
    { issuer: 'https://elsewhere.example' },
    { authorization_endpoint: 'http://elsewhere.example/authorize' },
    { authorization_endpoint: 'javascript:alert(1)' },
    { authorization_endpoint: undefined },
    { token_endpoint: 'http://elsewhere.example/token' },
    { jwks_uri: 'file:///etc/passwd' },
  ]) {
    await using world = await boot();
    world.provider.document = document;
    t.is(await world.logIn(), 'OPENID_PROVIDER_DOWN', JSON.stringify(document));
  }
  for (const document of [
    { token_endpoint: 'https://169.254.169.254/token' },
    { jwks_uri: 'https://10.1.2.3/keys' },
  ]) {
    await using world = await boot();
    world.provider.document = document;
    t.is(await world.logIn(), 'OPENID_PROVIDER_DOWN', JSON.stringify(document));
  }
});

test('a provider in a private network is called only where an admin says so', async (t) => {
  await using world = await boot({ settings: { openidAllowPrivate: false } });
  t.is(await world.logIn(), 'OPENID_PROVIDER_DOWN');
  t.deepEqual(world.provider.asked, []);
  await world.set({ openidAllowPrivate: true });
  t.is(await world.logIn(), 'admin');
});

test('a hundred mebibytes are not read, and other replies are no replies', async (t) => {
  await using world = await boot();
  const { provider } = world;
  let sent = 0;
  for (const path of [DOCUMENT, '/token', '/keys']) {
    await world.set({ openidName: path.slice(0, 20) });
    provider.instead.set(path, (_, response) => {
      response.setHeader('content-type', 'application/json');
      const piece = Buffer.alloc(64 * 1024, 32);
      const more = (): void => {
        while (sent < 100 * 1024 * 1024 && response.write(piece)) sent += piece.length;
      };
      response.on('drain', more);
      more();
    });
    t.is(await world.logIn(), 'OPENID_PROVIDER_DOWN', path);
    provider.instead.clear();
    // The failure to read the document stands for five seconds; other settings are read at once.
    await world.set({ openidClientSecret: `another ${path}` });
  }
  t.true(sent < 30 * 1024 * 1024, `${sent} bytes`);
  for (const [status, body] of [
    [200, 'no json'],
    [200, '[]'],
    [500, '{}'],
    [302, ''],
  ] as const) {
    provider.instead.set('/token', (_, response) => {
      response.writeHead(status, {
        'content-type': 'application/json',
        location: 'https://elsewhere.example/',
      });
      response.end(body);
    });
    t.not(await world.logIn(), 'admin', `${status} ${body}`);
  }
  provider.instead.clear();
  t.is(await world.logIn(), 'admin');
});

test('a provider that does not answer holds nobody for long, and is not asked by each login', async (t) => {
  await using world = await boot();
  const { provider, panel } = world;
  provider.instead.set(DOCUMENT, (request) => request.socket.destroy());
  for (let i = 0; i < 5; i++) t.is(await world.logIn(), 'OPENID_PROVIDER_DOWN');
  t.deepEqual(provider.asked, [DOCUMENT]);
  t.deepEqual(panel.faults, []);
  t.true(panel instanceof TestPanel);
});

test('what the provider blames on this panel is no failed login, what it blames on the code is one', async (t) => {
  await using world = await boot();
  const { provider } = world;
  const answer = (error: string): void =>
    void provider.instead.set('/token', (_, response) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error }));
    });
  answer('invalid_client');
  for (let i = 0; i < 6; i++) t.is(await world.logIn(), 'OPENID_PROVIDER_DOWN');
  for (const error of ['invalid_grant', 'invalid_request', 'of its own', 'invalid_grant', 'invalid_grant']) {
    answer(error);
    t.is(await world.logIn(), 'OPENID_NOT_PROVEN', error);
  }
  t.is(await world.logIn(), 'ACCESS_TOO_MANY_LOGINS');
});

test('a provider that hangs is left', async (t) => {
  await using world = await boot();
  const { provider } = world;
  t.is(await world.logIn(), 'admin');
  provider.instead.set('/token', () => undefined);
  t.is(await world.logIn(), 'OPENID_PROVIDER_DOWN');
  // It could not be checked, so it is no failed login.
  provider.instead.clear();
  t.is(await world.logIn(), 'admin');
});

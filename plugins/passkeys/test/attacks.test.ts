// Runs on every database in test:full.
// Answers that are wrong in one thing each, and nothing else: none opens a session or becomes a passkey.
import test from 'ava';
import { definePlugin, tap } from '../../../kernel/index.js';
import { ADMIN } from '../../../test/harness/panel.js';
import { loginAttempted } from '../../access/contract.js';
import { passkeyCopied } from '../contract.js';
import type { Wrong } from './authenticator.js';
import { Authenticator, boot, Browser, HOST, KEYS, ORIGIN, PASSWORD } from './world.js';

const EVIL = 'https://panel.example.com.evil.example';
const WRONG_LOGINS: Readonly<Record<string, Wrong>> = {
  'the origin of another site': { origin: EVIL },
  'the origin by http': { origin: 'http://panel.example.com' },
  'the origin of another port': { origin: `${ORIGIN}:8443` },
  'the origin of a host below': { origin: 'https://x.panel.example.com' },
  'another relying party': { rpId: 'example.com' },
  'another challenge': { challenge: Buffer.alloc(32, 7).toString('base64url') },
  'no check of who is there': { isVerified: false },
  'the handle of another admin': { userHandle: Buffer.alloc(32, 7).toString('base64url') },
  'no handle': { userHandle: 'AA' },
  'a frame of another site': { crossOrigin: true },
  'the answer to a registration': { type: 'webauthn.create' },
};

test('a login that is wrong in one thing is refused', async (t) => {
  const { panel, admin, browser, clock } = await boot();
  await using _ = panel;
  const authenticator = new Authenticator(ORIGIN);
  await admin.register(authenticator);
  for (const [name, wrong] of Object.entries(WRONG_LOGINS)) {
    const other = browser();
    const { status, body } = await other.enter(authenticator, wrong);
    t.is(status, 401, name);
    t.is(body.code, 'PASSKEYS_REFUSED', name);
    t.is(await other.asks(), 401, name);
    // So many failures would block.
    clock.tick(6 * 60_000);
  }
  const forged = new Authenticator(ORIGIN);
  const other = browser();
  const answer = authenticator.get(await other.options());
  const signed = forged.get({ challenge: 'AAAA', rpId: HOST }).response.signature;
  const { body } = await other.answer({ ...answer, response: { ...answer.response, signature: signed } });
  t.is(body.code, 'PASSKEYS_REFUSED', 'a signature of another key');
  t.is((await browser().enter(forged)).body.code, 'PASSKEYS_REFUSED', 'a key that nobody registered');
  t.is((await browser().enter(authenticator)).status, 200);
});

test('a registration that is wrong in one thing makes no passkey', async (t) => {
  const { panel, admin } = await boot();
  await using _ = panel;
  const wrongs: Readonly<Record<string, Wrong>> = {
    ...Object.fromEntries(
      Object.entries(WRONG_LOGINS).filter(([, wrong]) => !wrong.userHandle && !wrong.type),
    ),
    'the answer to a login': { type: 'webauthn.get' },
    'an attestation with certificates': {
      attestation: {
        fmt: 'packed',
        attStmt: new Map<string, never>([
          ['alg', -7 as never],
          ['sig', Buffer.alloc(8) as never],
          ['x5c', [Buffer.alloc(8)] as never],
        ]),
      },
    },
    'an unknown attestation': { attestation: { fmt: 'tpm', attStmt: new Map() } },
  };
  for (const [name, wrong] of Object.entries(wrongs)) {
    const { status, body } = await admin.register(new Authenticator(ORIGIN), wrong);
    t.is(status, 422, name);
    t.is(body.code, 'PASSKEYS_NOT_REGISTERED', name);
  }
  t.deepEqual((await admin.call(KEYS)).body.obj, []);
});

test('an answer counts once, in the browser that asked, for five minutes', async (t) => {
  const { panel, admin, browser, clock } = await boot();
  await using _ = panel;
  // One that does not count, as all that are synchronised: only the challenge stops a repetition.
  const authenticator = new Authenticator(ORIGIN);
  await admin.register(authenticator);
  const victim = browser();
  const options = await victim.options();
  const cookies = new Map(victim.cookies);
  const answer = authenticator.get(options);

  const thief = browser();
  t.is((await thief.answer(answer)).body.code, 'PASSKEYS_STALE', 'without the cookie');
  await thief.options();
  t.is((await thief.answer(answer)).body.code, 'PASSKEYS_REFUSED', 'with the cookie of another browser');

  t.is((await victim.answer(answer)).status, 200);
  t.is((await victim.answer(answer)).body.code, 'PASSKEYS_STALE', 'the cookie is gone');
  for (const [name, value] of cookies) thief.cookies.set(name, value);
  t.is((await thief.answer(answer)).body.code, 'PASSKEYS_STALE', 'with a copy of the cookie');
  t.is(await thief.asks(), 401);

  const slow = browser();
  const late = authenticator.get(await slow.options());
  clock.tick(5 * 60_000);
  t.is((await slow.answer(late)).body.code, 'PASSKEYS_STALE');
  const forger = browser();
  const asked = authenticator.get(await forger.options());
  const [expires = '', random = ''] = (forger.cookies.get('weir_passkey') ?? '').split('.');
  forger.cookies.set('weir_passkey', `${Number(expires) + 1}.${random}`);
  t.not((await forger.answer(asked)).status, 200, 'a longer life is another challenge');
});

test('of the same answer many times at once one opens a session', async (t) => {
  const { panel, admin, browser } = await boot();
  await using _ = panel;
  const authenticator = new Authenticator(ORIGIN);
  await admin.register(authenticator);
  const first = browser();
  const answer = authenticator.get(await first.options());
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => {
      const copy = browser();
      for (const [name, value] of first.cookies) copy.cookies.set(name, value);
      return copy.answer(answer);
    }),
  );
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 400, 400, 400]);
});

test('a counter that goes back is refused and reported, but only with a valid signature', async (t) => {
  const copies: object[] = [];
  const failures: string[] = [];
  const ear = definePlugin({
    name: 'ear',
    version: '1.0.0',
    api: 1,
    about: 'Listens.',
    taps: () => [
      tap(passkeyCopied, (copy) => void copies.push(copy)),
      tap(loginAttempted, ({ attempts }) => void failures.push(...attempts.map(({ reason }) => reason))),
    ],
  });
  const { panel, admin, browser, logged } = await boot({ plugins: [ear] });
  await using _ = panel;
  const authenticator = new Authenticator(ORIGIN, { counter: 10 });
  await admin.register(authenticator);
  t.is((await browser().enter(authenticator, { counter: 20 })).status, 200);
  const forged = browser();
  const answer = authenticator.get(await forged.options(), { counter: 5 });
  const broken = { ...answer, response: { ...answer.response, signature: 'AAAA' } };
  t.is((await forged.answer(broken)).body.code, 'PASSKEYS_REFUSED');
  t.deepEqual(copies, []);
  for (const counter of [20, 19, 0]) {
    const other = browser();
    t.is((await other.enter(authenticator, { counter })).body.code, 'PASSKEYS_COUNTER', String(counter));
    t.is(await other.asks(), 401);
  }
  await panel.kernel.settled();
  t.is(copies.length, 3);
  t.like(copies[0], { username: ADMIN.username, ip: '127.0.0.1' });
  t.true(logged('the counter of a passkey went back'));
  t.true(failures.some((reason) => reason.includes('counter')));
  t.is((await browser().enter(authenticator, { counter: 21 })).status, 200);
});

test('a passkey is registered once', async (t) => {
  const { panel, admin, add } = await boot();
  await using _ = panel;
  const authenticator = new Authenticator(ORIGIN);
  const begun = await admin.begin();
  const cookies = new Map(admin.cookies);
  const answer = authenticator.create(begun.body.obj);
  t.is((await admin.finish(answer)).status, 200);
  t.is((await admin.finish(answer)).body.code, 'PASSKEYS_STALE');
  for (const [name, value] of cookies) admin.cookies.set(name, value);
  t.is((await admin.finish(answer)).body.code, 'PASSKEYS_STALE', 'with a copy of the cookie');
  t.is((await admin.register(authenticator)).body.code, 'PASSKEYS_TAKEN');
  const { browser: grace } = await add('grace');
  t.is((await grace.register(authenticator, {}, PASSWORD)).body.code, 'PASSKEYS_TAKEN');
});

test('what one admin began, another one, another session and a login cannot finish', async (t) => {
  const { panel, admin, browser, add } = await boot();
  await using _ = panel;
  const { browser: grace } = await add('grace');
  const begun = await admin.begin();
  const cookie = admin.cookies.get('weir_passkey') ?? '';
  const answer = new Authenticator(ORIGIN).create(begun.body.obj);
  grace.cookies.set('weir_passkey', cookie);
  t.is((await grace.finish(answer)).body.code, 'PASSKEYS_NOT_REGISTERED');
  const again = browser();
  await again.logIn();
  again.cookies.set('weir_passkey', cookie);
  t.is((await again.finish(answer)).body.code, 'PASSKEYS_NOT_REGISTERED');
  const known = new Authenticator(ORIGIN);
  await admin.register(known);
  const asked = await admin.begin();
  const mixed = known.get({ challenge: asked.body.obj.challenge, rpId: HOST });
  t.is((await admin.answer(mixed)).body.code, 'PASSKEYS_REFUSED', 'a challenge of a registration');
});

test('a place where passkeys are impossible is named', async (t) => {
  const { panel } = await boot();
  await using _ = panel;
  const cases = [
    ['192.0.2.1:2053', 'https://192.0.2.1:2053', 'NEEDS_NAME'],
    ['[2001:db8::1]', 'https://[2001:db8::1]', 'NEEDS_NAME'],
    [HOST, `http://${HOST}`, 'NEEDS_HTTPS'],
    [HOST, '', 'NEEDS_HTTPS'],
    [HOST, 'null', 'NEEDS_HTTPS'],
    [HOST, EVIL, 'OTHER_HOST'],
    ['localhost:2053', 'http://localhost:2053', undefined],
    [HOST, `https://${HOST}:8443`, undefined],
  ] as const;
  for (const [host, origin, code] of cases) {
    const asked = new Browser(panel, { host, origin });
    const { status, body } = await asked.call(`${KEYS}/login/options`, { method: 'POST' });
    const label = `${host} ${origin}`;
    t.is(status === 200 ? undefined : body.code, code && `PASSKEYS_${code}`, label);
  }
  const byAddress = new Browser(panel, { host: '192.0.2.1', origin: 'https://192.0.2.1' });
  await byAddress.logIn();
  t.is((await byAddress.begin()).body.code, 'PASSKEYS_NEEDS_NAME');
});

test('a passkey works at the address where it was registered only', async (t) => {
  const { panel, admin } = await boot();
  await using _ = panel;
  const authenticator = new Authenticator(ORIGIN);
  await admin.register(authenticator);
  const port = new Browser(panel, { host: HOST, origin: `${ORIGIN}:8443` });
  t.is((await port.enter(authenticator)).body.code, 'PASSKEYS_OTHER_ADDRESS');
  const host = new Browser(panel, { host: 'other.example.com', origin: 'https://other.example.com' });
  t.is((await host.enter(authenticator)).body.code, 'PASSKEYS_OTHER_ADDRESS');
});

test('names, answers and bodies have limits', async (t) => {
  const { panel, admin, browser } = await boot();
  await using _ = panel;
  const begun = await admin.begin();
  const answer = new Authenticator(ORIGIN).create(begun.body.obj);
  for (const name of ['x'.repeat(65), 'x'.repeat(65_536), '', ' x ', 'two\nlines', '\u202eevil'])
    t.is((await admin.finish(answer, name)).body.code, 'KERNEL_INVALID', JSON.stringify(name.slice(0, 20)));
  const long = 'A'.repeat(10_000);
  t.is((await admin.finish({ ...answer, id: long })).status, 400);
  const { clientDataJSON, attestationObject } = answer.response;
  for (const response of [
    { clientDataJSON, attestationObject: long },
    { clientDataJSON: 'not base64url!', attestationObject },
    { clientDataJSON },
  ])
    t.is((await admin.finish({ ...answer, response })).status, 400);
  const registered = await admin.register(new Authenticator(ORIGIN));
  t.is(registered.status, 200);
  const other = browser();
  t.is((await other.answer({ huge: 'x'.repeat(64 * 1024) })).status, 413);
  t.is((await other.answer({ ...answer, response: {} })).status, 400);
  const path = `${KEYS}/${registered.body.obj.id}/rename`;
  t.is((await admin.call(path, { body: { name: 'x'.repeat(65_536) } })).body.code, 'KERNEL_INVALID');
});

test('broken answers are refused, not a fault', async (t) => {
  const { panel, admin, browser, clock } = await boot();
  await using _ = panel;
  const authenticator = new Authenticator(ORIGIN);
  await admin.register(authenticator);
  const texts = ['AAAA', Buffer.from('{}').toString('base64url'), Buffer.from('[1').toString('base64url')];
  for (const part of ['clientDataJSON', 'authenticatorData', 'signature'] as const)
    for (const text of texts) {
      const other = browser();
      const answer = authenticator.get(await other.options());
      const { status } = await other.answer({ ...answer, response: { ...answer.response, [part]: text } });
      t.is(status, 401, `${part} ${text}`);
      clock.tick(6 * 60_000);
    }
  for (const attestationObject of [
    'AAAA',
    'oA',
    Buffer.alloc(6000, 0x81).toString('base64url'),
    Buffer.from('bfbfbfbf', 'hex').toString('base64url'),
  ]) {
    const { body } = await admin.begin();
    const { response, ...rest } = new Authenticator(ORIGIN).create(body.obj);
    const broken = { ...rest, response: { ...response, attestationObject } };
    t.is((await admin.finish(broken)).body.code, 'PASSKEYS_NOT_REGISTERED');
  }
  await panel.kernel.settled();
  t.deepEqual(panel.faults, []);
});

test('failed logins are counted and block, also without the cookie of a challenge', async (t) => {
  const { panel, browser } = await boot();
  await using _ = panel;
  const statuses = [];
  for (let i = 0; i < 25; i++) {
    const other = browser();
    // The test has logged in from this address: its limits are those of a known one.
    const options = await other.options().catch(() => undefined);
    if (!options) {
      statuses.push(429);
      continue;
    }
    statuses.push((await other.answer(new Authenticator(ORIGIN).get(options))).status);
  }
  t.is(statuses[0], 401);
  t.is(statuses.at(-1), 429);
});

// Runs a certificate authority. One that refuses, or lies: the reason is said, and the certificate in use stays.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { issue as sign } from '../../../test/harness/self-signed.js';
import { testUnless } from '../../../test/harness/left-out.js';
import { type Lie, LyingAuthority, problem, type Reply } from './lying-authority.js';
import { OrderingPanel, PATH } from './ordering-panel.js';
import { authorityMissing, Pebble } from './pebble.js';

const issuing = testUnless(authorityMissing());
const json = (status: number, body: unknown): Partial<Reply> => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
const page: Partial<Reply> = {
  status: 200,
  headers: { 'content-type': 'text/html' },
  body: '<p>welcome</p>',
};
const changed = (reply: Reply, change: (order: Record<string, unknown>) => object): Partial<Reply> => ({
  body: JSON.stringify(change(JSON.parse(reply.body) as Record<string, unknown>)),
});
const at =
  (wanted: string, lie: (reply: Reply, calls: number) => ReturnType<Lie>): Lie =>
  (step, reply, calls) =>
    step === wanted ? lie(reply, calls) : undefined;

const root = sign({ name: 'root', isAuthority: true });
/** A chain that looks right, for a key that the authority made. */
const another = (name: string): string => sign({ name, hosts: [name], issuer: root }).cert + root.cert;

/** What is told, and the sentence that an admin reads; `NAME` is the name of the certificate. */
const LIES: readonly (readonly [what: string, lie: Lie, sentence: RegExp])[] = [
  [
    'a limit',
    at('order', () => problem('rateLimited', 'too many certificates', 429, { 'retry-after': '7200' })),
    /a limit of the authority is reached \(it says: too many certificates\)$/,
  ],
  ['an unknown limit', at('order', () => ({ status: 429, body: '' })), /refused the call with status 429$/],
  [
    'a nonce that is never good',
    at('order', () => problem('badNonce', 'no', 400, { 'replay-nonce': 'x' })),
    /the authority refused the nonce several times \(it says: no\)$/,
  ],
  [
    'a server error',
    at('order', () => ({ status: 503, headers: { 'content-type': 'text/html' }, body: '<h1>' })),
    /refused the call with status 503$/,
  ],
  [
    'a name that it does not issue for',
    at('order', () => problem('rejectedIdentifier', 'policy')),
    /does not issue certificates for this name \(it says: policy\)/,
  ],
  [
    'text that would break a log',
    at('order', () => problem('malformed', `a\n\u0000\u001b[31mb\u202ec${'x'.repeat(5000)}`)),
    /\(it says: a \[31mb cx{300}/,
  ],
  [
    'a page instead of the directory',
    at('directory', () => page),
    /is not a certificate authority: it answers GET with status 200 and text\/html/,
  ],
  [
    'a directory without URLs',
    at('directory', () => json(200, {})),
    /cannot be used: Unable to locate API resource URL/,
  ],
  ['a directory that is no object', at('directory', () => json(200, 'x')), /cannot be used/],
  [
    'a directory of another server',
    at('directory', () =>
      json(200, {
        newNonce: 'https://127.0.0.1:1/x',
        newAccount: 'https://127.0.0.1:1/x',
        newOrder: 'https://127.0.0.1:1/x',
      }),
    ),
    /names a URL that is not on its own server/,
  ],
  [
    'a redirect',
    at('order', () => ({ status: 302, headers: { location: '/dir' }, body: '' })),
    /the authority cannot be asked: .* redirects, and this call follows no redirects/,
  ],
  [
    'a huge reply',
    at('order', () => ({ body: `{"x":"${'y'.repeat(600_000)}"}` })),
    /the authority cannot be asked: .*524288|the authority cannot be asked: .*maxBytes/,
  ],
  [
    'no nonce',
    at('nonce', () => ({ headers: { 'replay-nonce': undefined } })),
    /cannot be used: Failed to get nonce/,
  ],
  ['an order without a state', at('order', () => json(201, {})), /an order without its state/],
  ['an order that is a text', at('order', () => json(201, '"x"')), /cannot be used/],
  [
    'an order for other names',
    at('order', (reply) =>
      changed(reply, (order) => ({ ...order, identifiers: [{ type: 'dns', value: 'other.example' }] })),
    ),
    /an order for other names/,
  ],
  [
    'too many authorizations',
    at('order', (reply) =>
      changed(reply, (order) => ({ ...order, authorizations: Array(5000).fill('https://x/') })),
    ),
    /with 5000 authorizations/,
  ],
  [
    'no challenge of this kind',
    at('authorization', (reply) =>
      changed(reply, (one) => ({ ...one, challenges: [{ type: 'dns-01', url: 'https://x/', token: 'x' }] })),
    ),
    /offers no http-01 for .*; it offers dns-01/,
  ],
  [
    'a token that is a path',
    at('authorization', (reply) =>
      changed(reply, (one) => ({
        ...one,
        challenges: [{ type: 'http-01', url: 'https://x/', token: '../../etc/passwd' }],
      })),
    ),
    /a challenge without its token/,
  ],
  [
    'a certificate for another key',
    at('certificate', () => ({ body: another('NAME') })),
    /cannot be used: it is for another key/,
  ],
  [
    'no certificate',
    at('certificate', () => ({ body: 'hello' })),
    /cannot be used: it is not a chain of certificates in PEM/,
  ],
  [
    'a private key in the chain',
    at('certificate', (reply) => ({ body: `${reply.body}\n${root.key}` })),
    /cannot be used: it is not a chain of certificates in PEM/,
  ],
  [
    'a chain that does not fit',
    at('certificate', (reply) => ({
      body: `${reply.body.split(/(?<=-----END CERTIFICATE-----\n)/)[0]}${root.cert}`,
    })),
    /certificate 2 of its chain did not sign the one before it/,
  ],
  [
    'half a certificate',
    at('certificate', (reply) => ({ body: reply.body.slice(0, 300) })),
    /cannot be used: it is not a chain/,
  ],
  ['a page instead of the certificate', at('certificate', () => page), /is not a certificate authority/],
];

issuing(
  'says why an authority that refuses or lies issued nothing, and keeps the certificate in use',
  async (t) => {
    await using pebble = await Pebble.start();
    await using authority = await LyingAuthority.start(pebble);
    await using world = await OrderingPanel.boot(authority);
    const first = await world.add({ names: ['first.example.com'] });
    const issued = await world.issue(first.id);
    const before = await readFile(issued.certificateFile, 'utf8');
    for (const [i, [what, lie, sentence]] of LIES.entries()) {
      const name = `n${i}-${randomBytes(3).toString('hex')}.example.com`;
      const { id } = i === 0 ? first : await world.add({ names: [name] });
      authority.lie = (step, reply, calls) => {
        const told = lie(step, reply, calls);
        return typeof told === 'object' && told.body === another('NAME') ? { body: another(name) } : told;
      };
      const said = await world.refused(id);
      t.regex(said, /^422 CERTIFICATES_NOT_ISSUED /, what);
      t.regex(said, sentence, what);
      const shown = await world.one(id);
      t.regex(shown.lastError, sentence, what);
      t.false(/[\p{Cc}\p{Cf}]/u.test(shown.lastError), what);
      t.true(shown.lastError.length <= 600, what);
      t.false(shown.ordering, what);
      if (i === 0) {
        t.true((shown.renewAt ?? 0) > Date.now(), 'the authority asked to wait');
        // Its word holds for admins too.
        t.regex(
          await world.refused(id),
          /^429 CERTIFICATES_TOO_SOON the authority asked to wait; the next order is possible at /,
        );
        authority.lie = () => undefined;
        continue;
      }
      if (i > 0) t.is(shown.state, 'none', what);
      authority.lie = () => undefined;
      if (i % 8 === 3) t.is((await world.issue(id)).state, 'valid', `${what}, and then the truth`);
    }
    t.is(await readFile(issued.certificateFile, 'utf8'), before);
    const orders = await world.panel.get<{ state: string; problem: string }[]>(`${PATH}/${first.id}/orders`);
    t.deepEqual(
      orders.map(({ state }) => state),
      ['failed', 'issued'],
    );
    t.deepEqual(world.panel.faults, []);
  },
);

issuing('says which name is not proved, and why', async (t) => {
  await using pebble = await Pebble.start({ blocked: ['blocked.example.com'] });
  await using world = await OrderingPanel.boot(pebble);
  await pebble.names('set-servfail', { host: 'broken.example.com' });
  const refusedFor = async (name: string, more: object = {}): Promise<string> =>
    world.refused((await world.add({ names: [name], ...more })).id);
  t.regex(
    await refusedFor('broken.example.com'),
    /broken\.example\.com: the authority could not connect to the name; its A and AAAA .*could not resolve/,
  );
  t.regex(await refusedFor('blocked.example.com'), /does not issue certificates for this name/);
  // The port is taken on this machine.
  const holder = createServer().listen(pebble.httpPort);
  await once(holder, 'listening');
  t.regex(
    await refusedFor('a.example.com'),
    /port \d+ cannot be opened for the challenge http-01: another program, such as the core, listens there; free it, or .* acmeHttpPort names/,
  );
  holder.close();
  t.deepEqual(world.panel.faults, []);
});

issuing('binds an account to an external one, and asks for it', async (t) => {
  const hmac = randomBytes(32).toString('base64url');
  await using pebble = await Pebble.start({ externalAccounts: { 'kid-1': hmac } });
  await using world = await OrderingPanel.boot(pebble);
  const { id } = await world.add({ names: ['a.example.com'] });
  t.regex(await world.refused(id), /wants an external account; set acmeKeyId and acmeHmacKey/);
  await world.panel.get('/panel/api/setting/update', {
    body: { acmeKeyId: 'kid-1', acmeHmacKey: hmac },
  });
  t.is((await world.issue(id)).state, 'valid');
  t.false(JSON.stringify(await world.panel.get('/panel/api/setting/all', { body: {} })).includes(hmac));
});

issuing('an account that the authority has forgotten is opened again', async (t) => {
  await using pebble = await Pebble.start();
  await using authority = await LyingAuthority.start(pebble);
  await using world = await OrderingPanel.boot(authority);
  const { id } = await world.add({ names: ['a.example.com'] });
  await world.issue(id);
  let isForgotten = true;
  authority.lie = (step) => {
    if (step === 'account') isForgotten = false;
    return step === 'order' && isForgotten ? problem('accountDoesNotExist', 'who', 400) : undefined;
  };
  t.is((await world.issue(id)).failures, 0);
});

issuing('an authority at a private address, or one that nobody trusts, is not called', async (t) => {
  await using pebble = await Pebble.start();
  await using world = await OrderingPanel.boot({
    settings: { ...pebble.settings, acmeAllowPrivate: false },
  });
  const { id } = await world.add({ names: ['a.example.com'] });
  t.regex(await world.refused(id), /127\.0\.0\.1.*WEIR_OUTGOING_ALLOW.*, or set acmeAllowPrivate$/);
  await world.panel.get('/panel/api/setting/update', {
    body: { acmeAllowPrivate: true, acmeAuthorities: '' },
  });
  t.regex(await world.refused(id), /the authority cannot be asked: .*self.signed certificate/i);
  // Not even then: the panel itself.
  const own = await world.add({
    names: ['a.example.com'],
    directory: `${world.panel.url.replace('http:', 'https:')}/dir`,
  });
  t.regex(await world.refused(own.id), /the panel/);
});

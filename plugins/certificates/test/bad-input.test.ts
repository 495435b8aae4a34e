// What admins and programs send that is no certificate: the error names the field, and nothing is added.
import test from 'ava';
import { issue as sign } from '../../../test/harness/self-signed.js';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import type { CertificateReply } from '../fields.js';
import { directoryProblem, namesOf } from '../names.js';

const PATH = '/panel/api/x/certificates';
const GOOD = { names: ['a.example.com'], directory: 'https://acme.example/dir', agreeToTerms: true };

test('names become what certificates have, each once', (t) => {
  t.deepEqual(namesOf(['VPN.Example.com.', ' vpn.example.com', 'bücher.example', 'xn--bcher-kva.example']), [
    'vpn.example.com',
    'xn--bcher-kva.example',
  ]);
  // A small letter that Unicode folds into ASCII is one name with its plain form.
  t.deepEqual(namesOf(['ｖpn.example.com']), ['vpn.example.com']);
  for (const [name, problem] of [
    ['*.example.com', /names\.0: "\*\.example\.com" has a wildcard, which needs a DNS challenge/],
    ['a.*.example.com', /wildcard/],
    ['127.0.0.1', /is an address/],
    ['[::1]', /is an address/],
    ['::ffff:1.2.3.4', /is an address/],
    ['2130706433', /is an address/],
    ['0x7f.1', /is an address/],
    ['localhost', /is not a full host name/],
    ['../../etc/passwd', /is not a host name/],
    ['a.example.com/../b', /is not a host name/],
    ['a\u0000.example.com', /is not a host name/],
    ['a.example.com\nb.example.com', /is not a host name/],
    ['a b.example.com', /is not a host name/],
    ['https://a.example.com', /is not a host name/],
    ['a.example.com:443', /is not a host name/],
    ['user@example.com', /is not a host name/],
    ['-a.example.com', /is not a host name/],
    ['a_b.example.com', /is not a host name/],
    ['a..example.com', /is not a host name/],
    ['%61.example.com', /is not a host name/],
    [`${'a'.repeat(64)}.example.com`, /is not a host name/],
    [`${'a.'.repeat(130)}com`, /is not a host name/],
    ['\u202eexample.com', /is not a host name/],
    ['a。example.com', /is not a host name/],
    ['.', /is not a host name/],
    [' ', /is not a host name/],
  ] as const) {
    const error = t.throws(() => namesOf([name]), undefined, name);
    t.regex(String(error?.message), problem, name);
  }
  t.is(directoryProblem('https://acme.example/dir?x=1'), undefined);
  for (const url of [
    '',
    'x',
    'http://a.example/',
    'ftp://a.example',
    'file:///etc/passwd',
    'https://u:p@a.example/',
    'https://a.example/#x',
    'https://a_b*.example/',
  ])
    t.not(directoryProblem(url), undefined, url);
});

test('each field that cannot be used is named, and nothing is added', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const plain = await panel.addInbound({ tag: 'plain' });
  for (const [body, status, problem] of [
    [{ ...GOOD, names: [] }, 400, /names/],
    [{ ...GOOD, names: 'a.example.com' }, 400, /names/],
    [{ ...GOOD, names: [7] }, 400, /names/],
    [{ ...GOOD, names: ['ok.example.com', '*.example.com'] }, 400, /names\.1: .*wildcard/],
    [{ ...GOOD, names: Array.from({ length: 101 }, (_, i) => `n${i}.example.com`) }, 400, /names/],
    [{ ...GOOD, names: Array.from({ length: 10_000 }, (_, i) => `n${i}.example.com`) }, 400, /names/],
    [{ ...GOOD, names: ['x'.repeat(300)] }, 400, /names/],
    [{ ...GOOD, agreeToTerms: false }, 400, /agreeToTerms must be true/],
    [{ names: GOOD.names }, 400, /agreeToTerms/],
    [{ ...GOOD, challenge: 'dns-01' }, 400, /challenge/],
    [{ ...GOOD, keyType: 'rsa-512' }, 400, /keyType/],
    [
      { ...GOOD, directory: 'http://acme.example/dir' },
      400,
      /directory: it must be a URL that begins with https/,
    ],
    [{ ...GOOD, directory: 'file:///etc/passwd' }, 400, /directory/],
    [{ ...GOOD, directory: `https://a.example/${'x'.repeat(3000)}` }, 400, /directory/],
    [{ ...GOOD, uses: { inbounds: [plain] } }, 400, /uses\.inbounds\.0: the inbound plain has no TLS/],
    [{ ...GOOD, uses: { inbounds: ['plain'] } }, 400, /uses\.inbounds\.0: the inbound plain has no TLS/],
    [{ ...GOOD, uses: { inbounds: [99] } }, 400, /uses\.inbounds\.0: there is no inbound 99/],
    [{ ...GOOD, uses: { inbounds: [-1] } }, 400, /uses\.inbounds\[0\]/],
    [{ ...GOOD, uses: { inbounds: [{}] } }, 400, /uses\.inbounds\[0\]/],
    [{ ...GOOD, uses: { inbounds: Array(1001).fill(1) } }, 400, /uses\.inbounds/],
    [{ ...GOOD, uses: { panel: 'yes' } }, 400, /uses\.panel/],
    [{ ...GOOD, uses: [] }, 400, /uses/],
  ] as const) {
    const answer = await panel.call(PATH, { body });
    t.is(answer.status, status, answer.text);
    t.regex(answer.body.msg, problem);
  }
  t.deepEqual(await panel.get(PATH), []);
  for (const path of [`${PATH}/7/issue`, `${PATH}/7/del`, `${PATH}/7/uses`]) {
    const { status, body } = await panel.call(path, { body: path.endsWith('uses') ? { uses: {} } : {} });
    t.is(status, 404, path);
    t.regex(body.msg, /there is no certificate 7/);
  }
  for (const path of [`${PATH}/0/issue`, `${PATH}/x/issue`, `${PATH}/-1/orders`])
    t.is((await panel.call(path, path.endsWith('orders') ? {} : { body: {} })).status, 400, path);
});

test('a use belongs to one certificate, and names to one, and there are not too many', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const add = (body: object) => panel.call<CertificateReply>(PATH, { body: { ...GOOD, ...body } });
  t.is((await add({ uses: { subscription: true, panel: true } })).status, 200);
  const second = await add({ names: ['b.example.com'] });
  for (const [uses, problem] of [
    [
      { subscription: true },
      /uses\.subscription: the subscription server uses certificate 1 \(a\.example\.com\) already/,
    ],
    [{ panel: true }, /uses\.panel: the panel uses certificate 1/],
  ] as const) {
    for (const answer of [
      await add({ names: ['c.example.com'], uses }),
      await panel.call(`${PATH}/${second.body.obj.id}/uses`, { body: { uses } }),
    ]) {
      t.is(answer.status, 409, answer.text);
      t.regex(answer.body.msg, problem);
    }
  }
  const twin = await add({ names: ['A.example.com'] });
  t.is(twin.status, 400);
  t.regex(twin.body.msg, /certificate 1 has the same names and authority/);
  for (let i = 2; i < 100; i++) await add({ names: [`n${i}.example.com`] });
  const { status, body } = await add({ names: ['last.example.com'] });
  t.is(status, 409);
  t.is(body.code, 'CERTIFICATES_TOO_MANY');
  t.is((await panel.get<unknown[]>(PATH)).length, 100);
});

test('settings that cannot be used are refused by name, and the key of the external account is never shown', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  for (const [name, values] of Object.entries({
    acmeDirectory: ['', 'http://a.example', 'https://u:p@a.example/', 7],
    acmeEmail: ['x', 'a@b, c@d.example', 'a@b?x', 'a b@c.example', `${'a'.repeat(400)}@b.example`],
    acmeHttpPort: [0, 65_536, '80x'],
    acmeTlsPort: [0, -1],
    acmeAuthorities: [
      'x',
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
      'x'.repeat(70_000),
    ],
    acmeKeyId: ['a b', 'x'.repeat(513)],
    acmeHmacKey: ['a b', '+/', 'x'.repeat(1025)],
    acmeAllowPrivate: ['perhaps'],
  }))
    for (const value of values) {
      const { status, body } = await panel.call('/panel/api/setting/update', { body: { [name]: value } });
      t.is(status, 400, `${name} ${value}`);
      t.true(body.msg.includes(name), body.msg);
    }
  const { cert } = sign({ name: 'root', isAuthority: true });
  await panel.get('/panel/api/setting/update', {
    body: { acmeAuthorities: `${cert}${cert}`, acmeKeyId: 'kid', acmeHmacKey: 'c2VjcmV0' },
  });
  const all = await panel.get<Record<string, unknown>>('/panel/api/setting/all', { body: {} });
  t.is(all['acmeHmacKey'], '');
  t.is(all['acmeKeyId'], 'kid');
});

// The format, read back with a key pair of this test; and what the app's own key makes of a known address.
import test from 'ava';
import {
  constants,
  createDecipheriv,
  createHash,
  createPublicKey,
  generateKeyPairSync,
  privateDecrypt,
} from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { encryptedLink } from '../crypt5.js';
import { APP_KEY } from '../public-key.js';
import { checkSource, MOST_BYTES } from '../source.js';

const own = generateKeyPairSync('rsa', { modulusLength: 4096 });

/** Node refuses to take off this padding itself (CVE-2023-46809), so the test does. */
function unpadded(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0, 2);
  if (bytes[0] !== 0 || bytes[1] !== 2 || end < 10) throw new Error('this is no PKCS #1 v1.5');
  return bytes.subarray(end + 1);
}
const swapped = (text: string, size: number): string => {
  let result = '';
  for (let i = 0; i < text.length; i += 2 * size) {
    const block = text.slice(i, i + 2 * size);
    result += block.length < 2 * size ? block : block.slice(size) + block.slice(0, size);
  }
  return result;
};

/** As the app does it, from the description of the format. */
function opened(link: string, privateKey: KeyObject): string {
  const frame = swapped(link.slice('happ://crypt5/'.length), 2);
  if (!frame.startsWith('vdfz') || !frame.endsWith('foff')) throw new Error('no frame');
  const [, nonce = '', salt = '', length = '', rest = ''] =
    /^([A-Za-z0-9]{12})[A-Za-z]{2}([A-Za-z0-9]{8})(\d+)V(.+)$/.exec(frame.slice(4, -4)) ?? [];
  const sealed = Buffer.from(rest.slice(0, Number(length)), 'base64');
  const wrapped = unpadded(
    privateDecrypt(
      { key: privateKey, padding: constants.RSA_NO_PADDING },
      Buffer.from(rest.slice(Number(length)), 'base64'),
    ),
  );
  const salted = Buffer.from(swapped(wrapped.toString(), 1), 'base64');
  const key = salted.map((byte, i) => byte ^ salt.charCodeAt(i % 8));
  const cipher = createDecipheriv('chacha20-poly1305', key, Buffer.from(nonce), { authTagLength: 16 });
  cipher.setAuthTag(sealed.subarray(-16));
  const text = Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]).toString();
  return Buffer.from(swapped(text, 1), 'base64').toString();
}

test('a link is read back with the private key, whatever the length of its source', (t) => {
  for (const source of [
    'https://example.com/sub',
    'https://example.com/sub1',
    'https://example.com/sub12',
    'https://пример.рф/подписка?x=%20',
    `https://example.com/${'x'.repeat(8192 - 20)}`,
  ])
    t.is(opened(encryptedLink(source, own.publicKey), own.privateKey), source);
});

test('each link has a key, a nonce and a salt of its own', (t) => {
  const parts = Array.from({ length: 20 }, () => encryptedLink('https://example.com/sub', own.publicKey));
  t.is(new Set(parts.map((link) => link.slice(14, 60))).size, 20);
  t.is(new Set(parts.map((link) => link.slice(-400))).size, 20);
});

test("the app's key is the published one, and a known source has the known length", (t) => {
  const key = createPublicKey(APP_KEY);
  t.is(
    createHash('sha256')
      .update(key.export({ type: 'spki', format: 'der' }))
      .digest('hex'),
    '22319c7b13647897bf5fd4f827ba92bf3946d738007a0054ccd931c31f221768',
  );
  t.is(key.asymmetricKeyDetails?.modulusLength, 4096);
  const link = encryptedLink('https://example.com/sub', key);
  t.is(link.length, 795);
  t.regex(link, /^happ:\/\/crypt5\/fzvd[A-Za-z0-9+/=]+$/);
  t.regex(swapped(link.slice(14), 2), /^vdfz[A-Za-z0-9]{22}64V.+foff$/);
});

test('only addresses that the app opens are encrypted', (t) => {
  for (const source of ['https://example.com/sub', 'http://[2001:db8::1]:2096/s/x', 'HTTPS://пример.рф/s'])
    t.notThrows(() => checkSource(source), source);
  for (const [source, problem] of [
    ['https:example.com/sub', /with a host/],
    ['https:///sub', /with a host/],
    ['ftp://example.com/sub', /http or https/],
    ['/sub', /http or https/],
    ['https://ann:x@example.com/sub', /user name/],
    ['https://ann@example.com/sub', /user name/],
    ['https://example.com/\u0007', /control character/],
    ['https://example.com/\ud800', /half of a character/],
  ] as const)
    t.throws(() => checkSource(source), { message: problem }, source);
  // Programs look for this word; a letter may take two bytes.
  const longest = `https://example.com/${'я'.repeat((MOST_BYTES - 20) / 2)}`;
  t.notThrows(() => checkSource(longest));
  t.throws(() => checkSource(`${longest}x`), { message: 'happ_source_too_long' });
});

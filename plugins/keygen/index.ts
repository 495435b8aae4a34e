// Keys and ids that an admin's page asks for while it fills in a form.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { definePlugin, payload, route, shape, word } from '../../kernel/index.js';

/** An X25519 pair as the core writes keys: base64url without padding (RFC 7748, RFC 4648 section 5). */
function newX25519(): { privateKey: string; publicKey: string } {
  const { privateKey } = generateKeyPairSync('x25519');
  const { d, x } = privateKey.export({ format: 'jwk' }) as { d: string; x: string };
  return { privateKey: d, publicKey: x };
}

export default definePlugin({
  name: 'keygen',
  version: '0.1.0',
  api: 1,
  about: 'Makes keys and ids for forms.',
  routes: () => [
    route({ method: 'GET', path: '/panel/api/server/getNewUUID', doc: 'A random UUID.', reply: payload(shape({ uuid: word() })), handle: () => ({ uuid: randomUUID() }) }),
    route({ method: 'GET', path: '/panel/api/server/getNewX25519Cert', doc: 'A pair of X25519 keys for REALITY, base64url.', reply: payload(shape({ privateKey: word(), publicKey: word() })), handle: newX25519 }),
  ],
});

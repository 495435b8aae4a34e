// Generates keys and ids for an admin's forms, and hashes certificates.
import { randomBytes, randomUUID } from 'node:crypto';
import {
  contribute,
  definePlugin,
  int,
  list,
  maybe,
  oneOf,
  optional,
  payload,
  route,
  shape,
  singleton,
  text,
  withDefault,
  word,
} from '../../kernel/index.js';
import { CoreGuard } from '../core-guard/contract.js';
import { Outgoing, OutgoingHosts } from '../outgoing/contract.js';
import { certificateHashes, Certificates } from './certificate-hashes.js';
import { newShadowsocksKey, newX25519, SHADOWSOCKS_KEY_BYTES } from './contract.js';
import { newEch, publicName } from './ech.js';
import { errors } from './errors.js';
import { newMldsa65, newMlkem768 } from './post-quantum.js';
import { newShortIds, newSpiderX } from './reality.js';
import { newVlessEncryption } from './vless-encryption.js';

const LONGEST_CHAIN = 256 * 1024;
const METHODS = Object.keys(SHADOWSOCKS_KEY_BYTES) as (keyof typeof SHADOWSOCKS_KEY_BYTES)[];
const base64 = (base64url: string): string => Buffer.from(base64url, 'base64url').toString('base64');

export default definePlugin({
  name: 'keygen',
  version: '0.2.0',
  api: 1,
  about: 'Generates keys and ids for forms, and hashes certificates.',
  uses: { guard: CoreGuard, outgoing: maybe(Outgoing) },
  services: { certificates: singleton(Certificates) },
  contributes: ({ certificates }) => [contribute(OutgoingHosts, certificates.access)],
  routes: ({ certificates }) => [
    route({
      method: 'GET',
      path: '/panel/api/server/getNewUUID',
      name: 'server.newUuid',
      doc: 'A random UUID.',
      reply: payload(shape({ uuid: word() })),
      handle: () => ({ uuid: randomUUID() }),
    }),
    route({
      method: 'GET',
      path: '/panel/api/server/getNewX25519Cert',
      name: 'server.newX25519',
      doc: 'A pair of X25519 keys for REALITY, base64url.',
      reply: payload(shape({ privateKey: word(), publicKey: word() })),
      handle: () => newX25519(),
    }),
    route({
      method: 'GET',
      path: '/panel/api/server/getNewmldsa65',
      name: 'server.newMldsa65',
      doc: 'A key of ML-DSA-65 for REALITY, base64url: `seed` for `mldsa65Seed`, `verify` for `mldsa65Verify`.',
      reply: payload(shape({ seed: word(), verify: word() })),
      handle: newMldsa65,
    }),
    route({
      method: 'GET',
      path: '/panel/api/server/getNewmlkem768',
      name: 'server.newMlkem768',
      doc: 'A key of ML-KEM-768, base64url: `seed` for the server, `client` for its clients.',
      reply: payload(shape({ client: word(), seed: word() })),
      handle: newMlkem768,
    }),
    route({
      method: 'GET',
      path: '/panel/api/server/getNewVlessEnc',
      name: 'server.newVlessEncryption',
      doc: 'Pairs of `decryption` and `encryption` of VLESS, for both kinds of authentication in all modes; `key` stays the same, such as `mlkem768_xorpub`.',
      reply: payload(
        shape({
          auths: list(
            shape({ id: int(), key: word(), label: word(), encryption: word(), decryption: word() }),
          ),
        }),
      ),
      handle: newVlessEncryption,
    }),
    route({
      method: 'POST',
      path: '/panel/api/server/getNewEchCert',
      name: 'server.newEch',
      doc: 'A key of Encrypted Client Hello for `echServerKeys` of an inbound, and the list of configs for its clients, base64.',
      form: true,
      body: shape({
        sni: word().max(255).custom(publicName).description('the public name, which everybody sees'),
      }).example({ sni: 'www.example.com' }),
      reply: payload(shape({ echServerKeys: word(), echConfigList: word() })),
      handle: ({ body: { sni } }) => newEch(sni),
    }),
    route({
      method: 'POST',
      path: '/panel/api/server/getCertHash',
      name: 'server.certificateHash',
      doc: 'SHA-256 of each certificate in a file or a text, in hexadecimal. `certFile` takes precedence; it is in a folder for certificates, as the files of inbounds are.',
      form: true,
      body: shape({
        certFile: optional(text().max(4096)).description('path on the machine of the panel'),
        certContent: optional(text().max(LONGEST_CHAIN)).description('PEM, or DER in base64'),
      }).example({ certFile: '/etc/weir/fullchain.pem' }),
      reply: payload(list(word())),
      errors: [errors.CERTIFICATE],
      handle: ({ body: { certFile = '', certContent = '' } }) => {
        if (certFile !== '') return certificates.inFile(certFile);
        if (certContent !== '') return certificateHashes(certContent, 'certContent');
        throw errors.CERTIFICATE('certFile or certContent is missing', { path: 'certFile' });
      },
    }),
    route({
      method: 'POST',
      path: '/panel/api/server/getRemoteCertHash',
      name: 'server.remoteCertificateHash',
      doc: 'SHA-256 of the certificate that a server shows, in hexadecimal, whether it is valid or not. Private addresses need WEIR_OUTGOING_ALLOW.',
      form: true,
      body: shape({
        server: text().max(300).description('host or host:port; without a port, 443'),
      }).example({ server: 'site.example:8443' }),
      reply: payload(list(word())),
      errors: [errors.SERVER],
      handle: async ({ body: { server } }) => [await certificates.ofServer(server.trim())],
    }),
    route({
      method: 'GET',
      path: '/panel/api/x/keygen/wireguard',
      name: 'keygen.wireguard',
      doc: 'A pair of WireGuard keys and a preshared key, base64.',
      reply: payload(shape({ privateKey: word(), publicKey: word(), presharedKey: word() })),
      handle: () => {
        const { privateKey, publicKey } = newX25519();
        return {
          privateKey: base64(privateKey),
          publicKey: base64(publicKey),
          presharedKey: randomBytes(32).toString('base64'),
        };
      },
    }),
    route({
      method: 'GET',
      path: '/panel/api/x/keygen/shadowsocks',
      name: 'keygen.shadowsocks',
      doc: 'A key for a method of Shadowsocks 2022, base64.',
      query: shape({ method: oneOf(...METHODS) }),
      reply: payload(shape({ password: word() })),
      handle: ({ query: { method } }) => ({ password: newShadowsocksKey(method) }),
    }),
    route({
      method: 'GET',
      path: '/panel/api/x/keygen/reality',
      name: 'keygen.reality',
      doc: 'Short ids of different lengths, and a path for the spider, for REALITY.',
      query: shape({ count: withDefault(int().min(1).max(100), 8).description('of short ids') }),
      reply: payload(shape({ shortIds: list(word()), spiderX: word() })),
      handle: ({ query: { count } }) => ({ shortIds: newShortIds(count), spiderX: newSpiderX() }),
    }),
  ],
});

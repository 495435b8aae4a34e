// Generates keys and ids for an admin's forms.
import { randomUUID } from 'node:crypto';
import { definePlugin, payload, route, shape, word } from '../../kernel/index.js';
import { newX25519 } from './contract.js';

export default definePlugin({
  name: 'keygen',
  version: '0.1.0',
  api: 1,
  about: 'Generates keys and ids for forms.',
  routes: () => [
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
      handle: newX25519,
    }),
  ],
});

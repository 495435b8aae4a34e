// Shadowsocks, classic and 2022. Keys of the methods of 2022: SIP022. Settings: xtls.github.io, Shadowsocks inbound.
import { createHash, randomBytes } from 'node:crypto';
import Joi from 'joi';
import { custom } from '../../../kernel/index.js';
import type { JsonObject } from '../../engine/contract.js';
import type { ClientIdentity, Inbound, Protocol } from '../contract.js';
import { viewStream } from '../stream/stream.js';
import { textOf } from '../stream/transport.js';
import { ownCredential, passwordOf } from './own-credential.js';

const CLASSIC = [
  'aes-128-gcm',
  'aes-256-gcm',
  'chacha20-poly1305',
  'chacha20-ietf-poly1305',
  'xchacha20-poly1305',
  'xchacha20-ietf-poly1305',
];
/** The core has room for one user with it, the key of the inbound itself. */
const SINGLE = '2022-blake3-chacha20-poly1305';
/** Bytes of a key, where an inbound has many users. */
const OF_2022: Readonly<Record<string, number>> = {
  '2022-blake3-aes-128-gcm': 16,
  '2022-blake3-aes-256-gcm': 32,
};

const bytesOf = (method: string): number | undefined => (method === SINGLE ? 32 : OF_2022[method]);

const isKey = (text: string, bytes: number): boolean =>
  /^[A-Za-z0-9+/]+={0,2}$/.test(text) &&
  text.length % 4 === 0 &&
  Buffer.from(text, 'base64').length === bytes;

const settings = Joi.object({
  method: Joi.valid(...CLASSIC, ...Object.keys(OF_2022), SINGLE),
  password: Joi.string().allow('').optional(),
})
  .unknown(true)
  .custom((value: { method: string; password?: string }, state) => {
    const bytes = bytesOf(value.method);
    if (bytes === undefined || isKey(value.password ?? '', bytes)) return value;
    return state.error('any.custom', {
      error: new Error(
        `password must be ${bytes} random bytes in base64 for ${value.method} (openssl rand -base64 ${bytes})`,
      ),
    });
  });

/**
 * The key of a client with a method of 2022. A password that is such a key stands for itself; any other becomes one, so
 * that a client needs one password for all its inbounds. One malformed key would freeze all users of an inbound.
 */
export function keyFor(password: string, method: string): string {
  const bytes = OF_2022[method] ?? 32;
  return isKey(password, bytes)
    ? password
    : createHash('sha256').update(password).digest().subarray(0, bytes).toString('base64');
}

const methodOf = ({ settings: { method } }: Pick<Inbound, 'settings'>): string => textOf(method);

export const shadowsocks: Protocol = {
  name: 'shadowsocks',
  settings: custom(settings),
  /** A key that was left out of an update stays, or no client could connect any more. */
  complete: (sent, before) => {
    const bytes = bytesOf(textOf(sent['method']));
    if (bytes === undefined || sent['password']) return { ...sent };
    const kept = before?.['method'] === sent['method'] && before?.['password'];
    return { ...sent, password: kept || randomBytes(bytes).toString('base64') };
  },
  // With udp as well, the core would open mKCP's UDP port a second time, and each flow would reach either socket by chance.
  coreSettings: ({ clients: _clients, ...rest }, stream) =>
    ({ ...rest, ...(viewStream(stream).network === 'kcp' && { network: 'tcp' }) }) as JsonObject,
  clientless: ({ method }) =>
    method === SINGLE
      ? `with the method ${SINGLE} an inbound has one user, its own password; choose 2022-blake3-aes-256-gcm for clients`
      : undefined,
  note: ({ method }) =>
    method === SINGLE
      ? `no clients can be attached to an inbound with ${SINGLE}: everybody uses its password, and nobody counts their bytes`
      : undefined,
  // The core's own default is tcp.
  l4: ({ settings: { network } }) => {
    const words = textOf(network)
      .toLowerCase()
      .split(',')
      .map((one) => one.trim());
    const l4 = (['tcp', 'udp'] as const).filter((one) => words.includes(one));
    return l4.length > 0 ? l4 : ['tcp'];
  },
  accounts: (own) =>
    own['method'] === SINGLE ? SINGLE : textOf(own['method']) in OF_2022 ? 'shadowsocks-2022' : 'shadowsocks',
  credential: ownCredential('password'),
  account: (client, inbound) => {
    const method = methodOf(inbound);
    const password = passwordOf(client, inbound);
    // With or without `ietf` it is the same cipher; the core answers with the short name.
    return method in OF_2022
      ? { protocol: 'shadowsocks-2022', key: keyFor(password, method) }
      : { protocol: 'shadowsocks', password, method: method.replace('-ietf', '') };
  },

  entry(inbound, base) {
    const method = methodOf(inbound);
    const account =
      method in OF_2022
        ? {
            serverKey: textOf(inbound.settings['password']),
            password: (client: ClientIdentity) => keyFor(passwordOf(client, inbound), method),
          }
        : { password: (client: ClientIdentity) => passwordOf(client, inbound) };
    return { ...base, account: { protocol: 'shadowsocks', method, ...account } };
  },
};

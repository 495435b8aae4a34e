// Shadowsocks, classic and 2022. Keys of the methods of 2022: SIP022. Settings: xtls.github.io, Shadowsocks inbound.
import { createHash } from 'node:crypto';
import Joi from 'joi';
import {
  annotate,
  custom,
  describedWith,
  list,
  oneOf,
  optional,
  shape,
  text,
} from '../../../kernel/index.js';
import type { JsonObject } from '../../engine/contract.js';
import { newShadowsocksKey, SHADOWSOCKS_KEY_BYTES } from '../../keygen/contract.js';
import type { ClientIdentity, Inbound, Protocol } from '../contract.js';
import { advanced, maybe, section } from '../form.js';
import { shadowsocksKey } from '../generators.js';
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
const METHODS_2022 = Object.keys(SHADOWSOCKS_KEY_BYTES);
const is2022 = (method: string): method is keyof typeof SHADOWSOCKS_KEY_BYTES =>
  Object.hasOwn(SHADOWSOCKS_KEY_BYTES, method);
const bytesOf = (method: string): number | undefined =>
  is2022(method) ? SHADOWSOCKS_KEY_BYTES[method] : undefined;
/** Whether an inbound with this method of 2022 has many users. */
const isShared = (method: string): boolean => is2022(method) && method !== SINGLE;

const isKey = (text: string, bytes: number): boolean =>
  /^[A-Za-z0-9+/]+={0,2}$/.test(text) &&
  text.length % 4 === 0 &&
  Buffer.from(text, 'base64').length === bytes;

/** Base64 of so many bytes. Other bits at the end than zeros are as good. */
const base64Pattern = (bytes: number): string =>
  `^[A-Za-z0-9+/]{${Math.ceil((bytes * 4) / 3)}}${'='.repeat((3 - (bytes % 3)) % 3)}$`;
const withMethod = (methods: readonly string[], password: object) => ({
  if: { required: ['method'], properties: { method: { enum: methods } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { password } },
});

const settings = describedWith(
  shape({
    ...section('Encryption', {
      method: annotate(oneOf(...CLASSIC, ...METHODS_2022), { initial: '2022-blake3-aes-256-gcm' }),
      password: annotate(optional(text()), {
        secret: true,
        generated: true,
        generator: shadowsocksKey,
        when: { field: 'method', is: METHODS_2022 },
      }).description('key of the server, random bytes in base64; classic methods have none'),
    }),
    ...advanced('Network', {
      // The core takes all of these; the first form is for forms.
      network: annotate(
        maybe(
          custom<string | readonly string[]>(
            Joi.alternatives(oneOf('tcp', 'udp', 'tcp,udp'), text(), list(text())),
          ),
        ),
        { initial: 'tcp,udp' },
      ).description('what it takes from clients; tcp if empty'),
    }),
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
    }),
  {
    allOf: [
      ...METHODS_2022.map((method) =>
        // A blank one is generated.
        withMethod([method], {
          anyOf: [{ enum: ['', null] }, { pattern: base64Pattern(bytesOf(method) ?? 32) }],
        }),
      ),
      withMethod(CLASSIC, { type: 'string' }),
    ],
  },
);

/**
 * The key of a client with a method of 2022. A password that is such a key stands for itself; any other becomes one, so
 * that a client needs one password for all its inbounds. One malformed key would freeze all users of an inbound.
 */
export function keyFor(password: string, method: string): string {
  const bytes = bytesOf(method) ?? 32;
  return isKey(password, bytes)
    ? password
    : createHash('sha256').update(password).digest().subarray(0, bytes).toString('base64');
}

const methodOf = ({ settings: { method } }: Pick<Inbound, 'settings'>): string => textOf(method);

export const shadowsocks: Protocol = {
  name: 'shadowsocks',
  title: 'Shadowsocks',
  settings: custom(settings),
  /** A key that was left out of an update stays, or no client could connect any more. */
  complete: (sent, before) => {
    const method = textOf(sent['method']);
    if (!is2022(method) || sent['password']) return { ...sent };
    const kept = before?.['method'] === method && before?.['password'];
    return { ...sent, password: kept || newShadowsocksKey(method) };
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
    own['method'] === SINGLE ? SINGLE : isShared(textOf(own['method'])) ? 'shadowsocks-2022' : 'shadowsocks',
  credential: ownCredential('password'),
  account: (client, inbound) => {
    const method = methodOf(inbound);
    const password = passwordOf(client, inbound);
    // With or without `ietf` it is the same cipher; the core answers with the short name.
    return isShared(method)
      ? { protocol: 'shadowsocks-2022', key: keyFor(password, method) }
      : { protocol: 'shadowsocks', password, method: method.replace('-ietf', '') };
  },

  entry(inbound, base) {
    const method = methodOf(inbound);
    const account = isShared(method)
      ? {
          serverKey: textOf(inbound.settings['password']),
          password: (client: ClientIdentity) => keyFor(passwordOf(client, inbound), method),
        }
      : { password: (client: ClientIdentity) => passwordOf(client, inbound) };
    return { ...base, account: { protocol: 'shadowsocks', method, ...account } };
  },
};

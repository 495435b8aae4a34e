// Shadowsocks, classic and 2022. Links: SIP002, and SIP022 for the methods of 2022. Settings: xtls.github.io, Shadowsocks inbound.
import { createHash } from 'node:crypto';
import Joi from 'joi';
import { custom } from '../../../kernel/index.js';
import type { JsonObject } from '../../engine/contract.js';
import type { ClientIdentity, Inbound, LinkFill, Protocol } from '../contract.js';
import { streamParams, transportSettings, viewStream } from '../stream/stream.js';
import { pretendedHttp } from '../stream/tcp.js';
import { textOf } from '../stream/transport.js';
import { compileQuery, escapeComponent, type Param } from './share-link.js';

const CLASSIC = [
  'aes-128-gcm',
  'aes-256-gcm',
  'chacha20-poly1305',
  'chacha20-ietf-poly1305',
  'xchacha20-poly1305',
  'xchacha20-ietf-poly1305',
];
/** Bytes of a key. The core knows a third one, with chacha20, which has room for one user only. */
const OF_2022: Readonly<Record<string, number>> = {
  '2022-blake3-aes-128-gcm': 16,
  '2022-blake3-aes-256-gcm': 32,
};

const isKey = (text: string, bytes: number): boolean =>
  /^[A-Za-z0-9+/]+={0,2}$/.test(text) &&
  text.length % 4 === 0 &&
  Buffer.from(text, 'base64').length === bytes;

const settings = Joi.object({
  method: Joi.valid(...CLASSIC, ...Object.keys(OF_2022)),
  password: Joi.string().allow('').optional(),
})
  .unknown(true)
  .custom((value: { method: string; password?: string }, state) => {
    const bytes = OF_2022[value.method];
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

function userInfo(inbound: Inbound): (client: ClientIdentity) => string {
  const method = methodOf(inbound);
  if (!(method in OF_2022))
    return ({ password }) => Buffer.from(`${method}:${password}`).toString('base64url');
  const head = `${escapeComponent(method)}:${escapeComponent(textOf(inbound.settings['password']))}:`;
  return ({ password }) => head + escapeComponent(keyFor(password, method));
}

/** Readers of SIP002 know nothing of `headerType`; to them the pretence is a plugin. */
function params({ streamSettings }: Inbound): Record<string, Param> {
  const { network, security } = viewStream(streamSettings);
  const http = network === 'tcp' ? pretendedHttp(transportSettings(streamSettings)) : undefined;
  if (http) return { plugin: `obfs-local;obfs=http;obfs-host=${http.host}` };
  const { security: _named, ...others } = streamParams(streamSettings);
  return security === 'none' ? others : { ...others, security };
}

export const shadowsocks: Protocol = {
  name: 'shadowsocks',
  settings: custom(settings),
  coreSettings: ({ clients: _clients, ...rest }) => rest as JsonObject,
  accounts: (own) => (textOf(own['method']) in OF_2022 ? 'shadowsocks-2022' : 'shadowsocks'),
  account: ({ password }, inbound) => {
    const method = methodOf(inbound);
    // With or without `ietf` it is the same cipher; the core answers with the short name.
    return method in OF_2022
      ? { protocol: 'shadowsocks-2022', key: keyFor(password, method) }
      : { protocol: 'shadowsocks', password, method: method.replace('-ietf', '') };
  },

  link(inbound) {
    const info = userInfo(inbound);
    const query = compileQuery(params(inbound));
    return ({ client, authority, fragment }: LinkFill) =>
      `ss://${info(client)}@${authority}?${query(client)}${fragment}`;
  },
};

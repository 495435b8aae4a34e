// WireGuard outbounds of a template, for plugins of tunnel services: a service names keys, addresses and the far end, and
// everything else of the outbound stays as the admin has it.
import type { Json, JsonObject } from '../engine/contract.js';
import { errors } from './errors.js';

export interface WireguardTunnel {
  /** private key of this end, in base64 */
  readonly secretKey: string;
  /** of this end, as prefixes such as `172.16.0.2/32` */
  readonly addresses: readonly string[];
  /** three bytes that the far end expects in each packet */
  readonly reserved?: readonly number[];
  /** public key of the far end, in base64 */
  readonly publicKey: string;
  /** `host:port` of the far end */
  readonly endpoint: string;
}

const KEY_BYTES = 32;
const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const outboundsOf = (template: JsonObject): readonly Json[] => {
  const { outbounds } = template as { readonly outbounds?: Json };
  return Array.isArray(outbounds) ? (outbounds as readonly Json[]) : [];
};
const settingsOf = ({ settings }: JsonObject): JsonObject => (isObject(settings) ? settings : {});
const firstPeer = ({ peers }: JsonObject): JsonObject => {
  const [peer] = Array.isArray(peers) ? (peers as readonly Json[]) : [];
  return isObject(peer) ? peer : {};
};

/** Returns a key of WireGuard as base64 with its padding; undefined for a text that is not a key. Reads base64, base64url and hexadecimal, as the core does. */
export function wireguardKey(text: string): string | undefined {
  if (/^[\da-f]{64}$/i.test(text)) return Buffer.from(text, 'hex').toString('base64');
  if (!/^[\w+/-]{43}=?$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === KEY_BYTES ? bytes.toString('base64') : undefined;
}

/** Returns the tags of the WireGuard outbounds of this template; with a private key, of those that use it. */
export function wireguardTags(template: JsonObject, secretKey?: string): string[] {
  const wanted = secretKey === undefined ? undefined : wireguardKey(secretKey);
  return outboundsOf(template).flatMap((outbound) => {
    if (!isObject(outbound) || outbound['protocol'] !== 'wireguard') return [];
    const { tag } = outbound;
    if (typeof tag !== 'string') return [];
    const { secretKey: own } = settingsOf(outbound);
    return secretKey === undefined || (typeof own === 'string' && wireguardKey(own) === wanted) ? [tag] : [];
  });
}

/**
 * Returns the template with this tunnel: in the outbound with the tag, at its place, or in a new outbound at the end. Throws
 * CORE_TEMPLATE_TAG_TAKEN where the tag belongs to an outbound of another protocol.
 */
export function withWireguard(template: JsonObject, tag: string, tunnel: WireguardTunnel): JsonObject {
  const outbounds = outboundsOf(template);
  const at = outbounds.findIndex((outbound) => isObject(outbound) && outbound['tag'] === tag);
  const before = at === -1 ? undefined : (outbounds[at] as JsonObject);
  if (before !== undefined && before['protocol'] !== 'wireguard')
    throw errors.TAG_TAKEN(
      `the outbound ${tag} of the template has the protocol ${String(before['protocol'])}; give it another tag first`,
      { path: 'tag' },
    );
  const after = outboundWith(before ?? { tag, protocol: 'wireguard' }, tunnel);
  return { ...template, outbounds: at === -1 ? [...outbounds, after] : outbounds.with(at, after) };
}

function outboundWith(outbound: JsonObject, tunnel: WireguardTunnel): JsonObject {
  const { secretKey, addresses, reserved, publicKey, endpoint } = tunnel;
  // Both belong to the previous far end.
  const { reserved: _reserved, ...settings } = settingsOf(outbound) as Record<string, Json>;
  const { preSharedKey: _shared, ...peer } = firstPeer(settings) as Record<string, Json>;
  return {
    ...outbound,
    settings: {
      mtu: 1420,
      domainStrategy: 'ForceIPv4v6',
      // A device of the operating system needs rights that a core should not have.
      noKernelTun: true,
      ...settings,
      secretKey,
      address: addresses,
      ...(reserved && { reserved }),
      peers: [{ ...peer, publicKey, endpoint }],
    },
  };
}

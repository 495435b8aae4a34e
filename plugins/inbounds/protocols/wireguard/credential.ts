// Keys and addresses of a client of WireGuard, and of programs that work like it.
import Joi from 'joi';
import {
  type Annotation,
  annotate,
  custom,
  inSection,
  int,
  kernelErrors,
  list,
  optional,
  type PanelError,
  shape,
  text,
} from '../../../../kernel/index.js';
import type { Credential, CredentialContext, ProtocolCredential, TakenKeys } from '../../credential.js';
import { wireguardPeer } from '../../generators.js';
import type { Inbound } from '../../schema.js';
import { textOf, textsOf } from '../../stream/transport.js';
import { keyOf, newKeyPair, publicKeyOf } from './keys.js';
import { type Prefix, prefixOf } from './prefixes.js';

const MOST_ADDRESSES = 64;

/** Makes the refusal of a field. */
type Invalid = (field: string, message: string) => PanelError;

/** Fields of a credential that callers may send. */
const credentialFields = {
  privateKey: annotate(optional(text().max(255)), {
    secret: true,
    generated: true,
    generator: wireguardPeer,
  }),
  publicKey: annotate(optional(text().max(255)), { generated: true }).description(
    'for a client whose private key only it knows',
  ),
  allowedIPs: annotate(
    optional(
      custom<string | string[]>(
        Joi.alternatives(text().max(4096), list(text().max(255)).max(MOST_ADDRESSES)),
      ),
    ),
    { generated: true },
  ).description('addresses of the client, with commas between them'),
  preSharedKey: annotate(optional(text().max(255)), { secret: true }),
  keepAlive: annotate(optional(int().min(0).max(65_535)), { unit: 'seconds' }),
};
const FLAT = Object.keys(credentialFields);

/** Keys and addresses that an inbound gives to peers which are no clients. */
export interface OtherPeers {
  readonly publicKeys: ReadonlySet<string>;
  readonly networks: ReadonlySet<string>;
}

function sentKey(
  sent: Readonly<Record<string, unknown>>,
  name: string,
  invalid: Invalid,
): string | undefined {
  const value = textOf(sent[name]).trim();
  if (value === '') return undefined;
  const key = keyOf(value);
  if (key === undefined) throw invalid(name, 'it must be a key of 32 bytes in base64');
  return key;
}

/** A private key brings its public key. A client whose private key only it knows sends the public one. */
function keysFrom(
  sent: Readonly<Record<string, unknown>>,
  before: Credential | undefined,
  invalid: Invalid,
): { readonly privateKey?: string; readonly publicKey: string } {
  const privateKey = sentKey(sent, 'privateKey', invalid);
  const publicKey = sentKey(sent, 'publicKey', invalid);
  const stored = { privateKey: textOf(before?.['privateKey']), publicKey: textOf(before?.['publicKey']) };
  if (privateKey !== undefined) {
    const own = publicKeyOf(privateKey);
    // The key that a reply showed comes back with a new private key: it is not meant to stay.
    const isEcho = publicKey === stored.publicKey && privateKey !== stored.privateKey;
    if (publicKey !== undefined && publicKey !== own && !isEcho)
      throw invalid('publicKey', 'it is not the public key of privateKey');
    return { privateKey, publicKey: own };
  }
  if (publicKey !== undefined && publicKey !== stored.publicKey) return { publicKey };
  if (stored.publicKey === '') return newKeyPair();
  return { publicKey: stored.publicKey, ...(stored.privateKey && { privateKey: stored.privateKey }) };
}

function prefixesFrom(value: unknown, invalid: Invalid): readonly Prefix[] {
  const texts = (Array.isArray(value) ? textsOf(value) : textOf(value).split(','))
    .map((one) => one.trim())
    .filter(Boolean);
  if (texts.length > MOST_ADDRESSES) throw invalid('allowedIPs', `at most ${MOST_ADDRESSES} addresses`);
  const prefixes = new Map<string, Prefix>();
  for (const one of texts) {
    const prefix = prefixOf(one);
    if (!prefix) throw invalid('allowedIPs', `${one} is not an IP address or a prefix such as 10.0.0.2/32`);
    if (!prefixes.has(prefix.network)) prefixes.set(prefix.network, prefix);
  }
  return [...prefixes.values()];
}

const networksOf = (credential: Credential): string[] =>
  textsOf(credential['allowedIPs']).map((one) => prefixOf(one)?.network ?? one);

/** `assign` returns a free address of the inbound's pool. `more` are fields of the protocol's own. `change` says what a change of them costs. */
export function tunnelCredential({
  others,
  assign,
  change,
  more = {},
}: {
  readonly others: (inbound: Inbound) => OtherPeers;
  readonly assign: (inbound: Inbound, taken: TakenKeys, fieldPrefix: string) => string;
  readonly change: NonNullable<Annotation['change']>;
  readonly more?: Readonly<Record<string, Joi.Schema>>;
}): ProtocolCredential {
  const extra = (sent: Readonly<Record<string, unknown>>, before: Credential | undefined) =>
    Object.fromEntries(
      Object.keys(more).flatMap((name) => {
        const value = sent[name] ?? before?.[name];
        return value === undefined ? [] : [[name, value as string]];
      }),
    );
  return {
    flat: [...FLAT, ...Object.keys(more)],
    schema: shape(inSection('Credentials', { ...credentialFields, ...more }, { level: 'advanced', change })),
    sample: { publicKey: `${'A'.repeat(43)}=`, allowedIPs: ['192.0.2.1/32'] },
    create(sent, { inbound, before, taken, fieldPrefix }: CredentialContext) {
      const invalid: Invalid = (field, message) =>
        kernelErrors.INVALID(`${field}: ${message}`, { path: `${fieldPrefix}${field}` });
      const peers = others(inbound);
      const keys = keysFrom(sent, before, invalid);
      if (peers.publicKeys.has(keys.publicKey))
        throw invalid('publicKey', `a peer in the settings of inbound ${inbound.id} has it`);
      const prefixes = prefixesFrom(sent['allowedIPs'] ?? before?.['allowedIPs'] ?? [], invalid);
      const claimed = prefixes.find(({ network }) => peers.networks.has(network));
      if (claimed)
        throw invalid('allowedIPs', `a peer in the settings of inbound ${inbound.id} has ${claimed.text}`);
      const preSharedKey = sentKey(sent, 'preSharedKey', invalid) ?? textOf(before?.['preSharedKey']);
      const keepAlive = sent['keepAlive'] ?? before?.['keepAlive'];
      return {
        ...keys,
        allowedIPs:
          prefixes.length > 0 ? prefixes.map((prefix) => prefix.text) : [assign(inbound, taken, fieldPrefix)],
        ...(preSharedKey && { preSharedKey }),
        ...(typeof keepAlive === 'number' && { keepAlive }),
        ...extra(sent, before),
      };
    },
    keys: (credential) => [textOf(credential['publicKey']), ...networksOf(credential)],
  };
}

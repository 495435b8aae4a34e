// REALITY under a transport. Settings: xtls.github.io, RealityObject, and XTLS/REALITY.
import { createHash } from 'node:crypto';
import { anything, list, openObject, optional, shape, text, word } from '../../../kernel/index.js';
import { x25519PublicKey } from '../../keygen/contract.js';
import type { ByClient, ClientIdentity, FieldsByClient } from '../entry/entry.js';
import type { Reality } from '../entry/security.js';
import { objectOf, type Settings, textOf, textsOf } from './transport.js';

const KEY = /^[A-Za-z0-9_-]{43}$/;
const target = () =>
  anything().custom((value: unknown, state) => {
    if ((typeof value === 'string' && /\S/.test(value)) || (Number.isInteger(value) && (value as number) > 0))
      return value;
    return state.error('any.custom', { error: new Error('it must be host:port, or a port of this machine') });
  });

export const RealitySettings = shape({
  target: optional(target()),
  dest: optional(target()),
  serverNames: list(word().pattern(/^[^\s\p{Cc}\p{Cs}]+$/u, 'server name')).min(1),
  privateKey: word().pattern(KEY, 'X25519 private key of 43 characters (base64url)'),
  shortIds: list(text().pattern(/^(?:[0-9a-fA-F]{2}){0,8}$/, 'up to 16 hexadecimal digits, in pairs')).min(1),
  settings: optional(openObject()),
})
  .or('target', 'dest')
  .unknown(true);

/** Base64url, as the private key is. */
const publicKeyOf = (privateKey: string): string =>
  x25519PublicKey(Buffer.from(privateKey, 'base64url')).toString('base64url');

const keyOf = ({ subId, email }: ClientIdentity): string => subId || email;

/** A client gets the same one every time, so that its config does not change with every fetch. */
function choose(values: readonly string[]): ByClient<string> {
  if (values.length < 2) return values[0] ?? '';
  return (client) =>
    values[createHash('sha256').update(keyOf(client)).digest().readUInt32BE() % values.length] as string;
}

/** What the client's side must know: of the core's own settings, and of those in `settings`. */
export function realityEntry(reality: Settings): FieldsByClient<Reality> {
  const client = objectOf(reality['settings']);
  const seed = textOf(client['spiderX']);
  const pqv = textOf(client['mldsa65Verify']);
  return {
    kind: 'reality',
    serverName: choose(textsOf(reality['serverNames'])),
    shortId: choose(textsOf(reality['shortIds'])),
    publicKey: textOf(client['publicKey']) || publicKeyOf(textOf(reality['privateKey'])),
    // A program without one would send Go's own greeting, which gives it away.
    fingerprint: textOf(client['fingerprint']) || 'chrome',
    spiderX: (who) =>
      `/${createHash('sha256')
        .update(`${seed}|${keyOf(who)}`)
        .digest('hex')
        .slice(0, 15)}`,
    ...(pqv && { mldsa65Verify: pqv }),
  };
}

// REALITY under a transport. Settings: xtls.github.io, RealityObject, and XTLS/REALITY.
import { createHash } from 'node:crypto';
import {
  annotate,
  anything,
  bool,
  describedAs,
  int,
  list,
  optional,
  shape,
  text,
  word,
} from '../../../kernel/index.js';
import { x25519PublicKey } from '../../keygen/contract.js';
import type { ByClient, ClientIdentity, FieldsByClient } from '../entry/entry.js';
import type { Reality } from '../entry/security.js';
import { advanced, forClients, maybe, section } from '../form.js';
import { mldsa65Keys, realityKeys, realityShortIds, realitySpider } from '../generators.js';
import { objectOf, type Settings, textOf, textsOf } from './transport.js';

const KEY = /^[A-Za-z0-9_-]{43}$/;
const target = () =>
  describedAs(
    anything().custom((value: unknown, state) => {
      if (
        (typeof value === 'string' && /\S/.test(value)) ||
        (Number.isInteger(value) && (value as number) > 0)
      )
        return value;
      return state.error('any.custom', {
        error: new Error('it must be host:port, or a port of this machine'),
      });
    }),
    {
      anyOf: [
        { type: 'string', pattern: '\\S' },
        { type: 'integer', minimum: 1 },
      ],
    },
  );
const fallbackLimit = () =>
  maybe(
    shape(
      advanced('Limit', {
        afterBytes: annotate(maybe(int().min(0)), { unit: 'bytes' }).description('that are not slowed down'),
        bytesPerSec: annotate(maybe(int().min(0)), { unit: 'bytes/s' }).description('0 for no limit'),
        burstBytesPerSec: annotate(maybe(int().min(0)), { unit: 'bytes/s' }),
      }),
    ).unknown(true),
  );
/** What the core never sees. */
const client = shape(
  forClients('Clients', {
    publicKey: maybe(text()).description('of the private key; empty: the panel computes it'),
    fingerprint: annotate(maybe(text().example('chrome').example('firefox').example('randomized')), {
      initial: 'chrome',
    }).description('program whose greeting clients imitate'),
    spiderX: annotate(maybe(text()), { generator: realitySpider }).description(
      'seed of the path that a client visits first',
    ),
    mldsa65Verify: maybe(text()).description('public key of ML-DSA-65'),
  }),
).unknown(true);

export const RealitySettings = shape({
  ...section('REALITY', {
    target: optional(target()).description(
      'site that others are shown: host:port, or a port of this machine',
    ),
    dest: annotate(optional(target()), { aliasOf: 'target' }),
    serverNames: list(word().pattern(/^[^\s\p{Cc}\p{Cs}]+$/u, 'server name'))
      .min(1)
      .description('names of the target that clients may use'),
    privateKey: annotate(word().pattern(KEY, 'X25519 private key of 43 characters (base64url)'), {
      secret: true,
      generator: realityKeys,
    }),
    shortIds: annotate(
      list(text().pattern(/^(?:[0-9a-fA-F]{2}){0,8}$/, 'up to 16 hexadecimal digits, in pairs')).min(1),
      { generator: realityShortIds },
    ).description('each client gets one of them'),
  }),
  ...advanced('REALITY', {
    show: maybe(bool()).description('the core logs each handshake'),
    xver: maybe(int().min(0)).description('version of the PROXY protocol towards the target; 0 for none'),
    minClientVer: maybe(text()).description('oldest version of the core that clients may have, like 1.8.0'),
    maxClientVer: maybe(text()).description('newest version of the core that clients may have'),
    maxTimeDiff: annotate(maybe(int().min(0)), { unit: 'ms' }).description(
      'by which the clock of a client may differ; 0 for any',
    ),
    mldsa65Seed: annotate(maybe(text()), { secret: true, generator: mldsa65Keys }).description(
      'key of ML-DSA-65, with which the server signs as well',
    ),
    limitFallbackUpload: fallbackLimit().description('what others may send to the target'),
    limitFallbackDownload: fallbackLimit().description('what others may fetch from the target'),
  }),
  ...forClients('REALITY', { settings: optional(client).description('for clients; the core never sees it') }),
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

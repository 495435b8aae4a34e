// Fields of certificates as programs send and read them.
import {
  anything,
  bool,
  custom,
  describedAs,
  int,
  list,
  nullable,
  oneOf,
  optional,
  shape,
  type Static,
  text,
  word,
} from '../../kernel/index.js';
import { version } from '../record-versions/contract.js';
import { MOST_NAMES } from './names.js';

export const CHALLENGES = ['http-01', 'tls-alpn-01'] as const;
export type Challenge = (typeof CHALLENGES)[number];
export const KEY_TYPES = ['ec-256', 'ec-384', 'rsa-2048', 'rsa-4096'] as const;
export type KeyType = (typeof KEY_TYPES)[number];
/** `lost`: the panel stopped before the authority confirmed it */
export type OrderState = 'open' | 'issued' | 'failed' | 'lost';
/** Where a certificate is used. */
export interface StoredUses {
  readonly panel: boolean;
  readonly subscription: boolean;
  /** ids */
  readonly inbounds: readonly number[];
}
export const NOT_USED: StoredUses = { panel: false, subscription: false, inbounds: [] };
const MOST_INBOUNDS = 1000;

const InboundName = custom<number | string>(
  describedAs(anything(), {
    oneOf: [
      { type: 'integer', minimum: 1 },
      { type: 'string', minLength: 1, maxLength: 256 },
    ],
  }).custom((value: unknown) => {
    if (Number.isSafeInteger(value) && (value as number) > 0) return value;
    if (typeof value === 'string' && value !== '' && value.length <= 256) return value;
    throw new Error('it must be the id or the tag of an inbound');
  }),
);
export const SentUses = shape({
  panel: optional(bool().description('the panel, when WEIR_TLS_CERT is not set')),
  subscription: optional(bool().description('the subscription server')),
  inbounds: optional(list(InboundName).max(MOST_INBOUNDS).description('ids or tags of inbounds with TLS')),
});
export type SentUses = Static<typeof SentUses>;

export const SentCertificate = shape({
  names: list(word().max(255)).min(1).max(MOST_NAMES).description('host names, the main one first'),
  challenge: optional(oneOf(...CHALLENGES).description('how the names are proved; http-01 by default')),
  keyType: optional(oneOf(...KEY_TYPES).description('ec-256 by default')),
  directory: optional(word().max(2048).description('of the authority; by default the setting acmeDirectory')),
  uses: optional(SentUses),
  agreeToTerms: bool().description('true: you accept the terms of service of the authority'),
}).example({
  names: ['vpn.example.com'],
  challenge: 'http-01',
  directory: 'https://acme.example/directory',
  uses: { subscription: true },
  agreeToTerms: true,
});
export type SentCertificate = Static<typeof SentCertificate>;

export const SentRemoval = shape({
  revoke: optional(bool().description('the authority revokes it first; for a key that others may have')),
}).example({ revoke: false });
export const SentUsesChange = shape({ uses: SentUses }).example({ uses: { inbounds: [] } });
export const CertificateId = shape({ id: int().min(1).example(1) });

export const CertificateReply = shape({
  id: int(),
  names: list(text()),
  challenge: text(),
  keyType: text(),
  directory: text(),
  uses: shape({ panel: bool(), subscription: bool(), inbounds: list(int()) }),
  state: oneOf('none', 'valid', 'expired').description('of the certificate on this machine'),
  ordering: bool().description('an order is under way'),
  certificateFile: text().description(
    'path that stays the same when it is renewed; empty until it is issued',
  ),
  keyFile: text(),
  issuer: text(),
  serial: text(),
  validFrom: text().description('RFC 3339; empty without a certificate'),
  validTo: text(),
  renewAt: nullable(int()).description('Unix ms at which it is ordered; null while an order is under way'),
  failures: int().description('orders that failed since the last one that did not'),
  lastError: text().description('why the last order failed, or why something does not use it'),
  createdAt: int().description('Unix ms'),
  version: version(),
});
export type CertificateReply = Static<typeof CertificateReply>;

export const OrderReply = shape({
  state: oneOf('open', 'issued', 'failed', 'lost').description(
    'lost: the panel stopped before the authority confirmed it',
  ),
  url: text().description('at the authority'),
  problem: text(),
  startedAt: int().description('Unix ms'),
  endedAt: int().description('Unix ms; 0 while it is open'),
});

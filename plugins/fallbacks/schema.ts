// Bodies and replies. Source of the fields: xtls.github.io, FallbackObject.
import {
  custom,
  int,
  list,
  nullable,
  oneOf,
  optional,
  shape,
  type Static,
  text,
} from '../../kernel/index.js';
import Joi from 'joi';

/** Far more than an inbound has; each costs the core a comparison for each connection. */
const MOST = 100;

// The core compares them with what the client sent, so an invisible character could never match.
const line = (longest: number) =>
  text()
    .max(longest)
    .pattern(/^[^\p{Cc}\p{Cs}\s]*$/u, 'text without spaces');

/** A port, `host:port` or a Unix socket; programs send ports as numbers too. */
const destination = () =>
  custom<string | number>(Joi.alternatives(line(255), Joi.number().integer().min(1).max(65_535))).description(
    'a port, host:port or a Unix socket; empty for the place where the child listens',
  );

const FallbackBody = shape({
  childId: optional(
    nullable(int().min(0)).description(
      'inbound that takes the connections; 0 or null where dest is no inbound of ours',
    ),
  ),
  name: optional(nullable(line(255)).description('server name of the TLS handshake; empty for any')),
  alpn: optional(
    nullable(oneOf('', 'h2', 'http/1.1')).description('protocol that TLS agreed on; empty for any'),
  ),
  path: optional(
    nullable(
      text()
        .max(1024)
        .pattern(/^(?:\/[^\p{Cc}\p{Cs}\s]*)?$/u, 'path that begins with a slash'),
    ).description('path of an HTTP request; empty for any'),
  ),
  dest: optional(nullable(destination())),
  xver: optional(nullable(int().min(0).max(2)).description('version of the PROXY protocol; 0 for none')),
  sortOrder: optional(nullable(int().min(0)).description('0 for the place in this list')),
});
export type SentFallback = Static<typeof FallbackBody>;

export const SaveFallbacks = shape({ fallbacks: list(FallbackBody).max(MOST) }).example({
  fallbacks: [{ dest: 'example.com:80' }],
});

export const FallbackReply = shape({
  id: int().min(1),
  masterId: int().min(1),
  childId: int().min(0).description('0 where dest is no inbound of this panel'),
  name: text(),
  alpn: text(),
  path: text(),
  dest: text(),
  xver: int(),
  sortOrder: int(),
});
export type Fallback = Static<typeof FallbackReply>;

export const MasterId = shape({ id: int().min(1) });

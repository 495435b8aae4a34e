// Why there is no handshake, in a sentence.
import { messageOf } from '../../kernel/index.js';
import type { OutgoingError } from '../outgoing/contract.js';

export interface Failure {
  readonly reason: string;
  /** the address may not be connected to */
  readonly isPrivate: boolean;
  /** The server accepts none of the key exchanges that were offered, as far as its alert says. */
  readonly mayBeGroups: boolean;
}

/** Of a handshake. Usual ones have below 10 KiB; Node 20 needs 50 ms and more to read hundreds of certificates. */
export const MOST_BYTES = 32 * 1024;
const TOO_LARGE: Failure = {
  reason: `the TLS handshake failed: the server sends more than ${MOST_BYTES / 1024} KiB in its handshake`,
  isPrivate: false,
  mayBeGroups: false,
};

/** By the codes of sockets and name servers. */
const CONNECTION: readonly (readonly [RegExp, string])[] = [
  [/^ENOTFOUND$/, 'the name has no address'],
  [/^EAI_AGAIN$/, 'the name server does not answer'],
  [/^ECONNREFUSED$/, 'the port is closed'],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, 'there is no route to the address'],
  [/^ETIMEDOUT$/, 'the address does not answer'],
];
/** By the codes of OpenSSL, whose words change with its version. */
const HANDSHAKE: readonly (readonly [RegExp, string])[] = [
  [/^(ECONNRESET|EPIPE)$/, 'the server closes the connection'],
  [/ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL/, 'the server has neither TLS 1.2 nor TLS 1.3'],
  [/ALERT_UNRECOGNIZED_NAME/, 'the server does not know the name'],
  [/NO_APPLICATION_PROTOCOL/, 'the server has neither h2 nor HTTP/1.1'],
  [
    /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNKNOWN_PROTOCOL/,
    'the server does not speak TLS on this port',
  ],
  [/ALERT_INTERNAL_ERROR/, 'the server has an internal error'],
];
const GROUPS = /ALERT_(HANDSHAKE_FAILURE|INSUFFICIENT_SECURITY|ILLEGAL_PARAMETER)/;

/** @param seconds the limit that an error of time is about */
export function failureOf(error: OutgoingError, seconds: number): Failure {
  const { code: ours, message, cause } = error;
  if (ours === 'address')
    return { reason: `the connection failed: ${message}`, isPrivate: true, mayBeGroups: false };
  const code = codeOf(cause);
  if (ours === 'size' || /EXCESSIVE_MESSAGE_SIZE/.test(code)) return TOO_LARGE;
  const isGroups = GROUPS.test(code);
  return { reason: sentenceOf(), isPrivate: false, mayBeGroups: isGroups };

  function sentenceOf(): string {
    if (ours === 'time') return `the connection failed: no handshake within ${seconds} s`;
    const connection = CONNECTION.find(([pattern]) => pattern.test(code))?.[1];
    if (connection !== undefined) return `the connection failed: ${connection}`;
    if (isGroups) return 'the TLS handshake failed: the server accepts none of the key exchanges or ciphers';
    const handshake = HANDSHAKE.find(([pattern]) => pattern.test(code))?.[1];
    if (handshake !== undefined) return `the TLS handshake failed: ${handshake}`;
    if (code.startsWith('ERR_SSL_')) return `the TLS handshake failed: ${opensslReason(cause) || code}`;
    if (cause === undefined || ours !== 'network') return `the connection failed: ${message}`;
    return `the TLS handshake failed: ${/closed the connection/.test(messageOf(cause)) ? 'the server closes the connection' : message}`;
  }
}

/** The first code among an error, the errors that it joins, and its causes. */
function codeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (code !== undefined) return String(code);
    const [first] = ((at as Partial<AggregateError>).errors ?? []) as unknown[];
    if (first instanceof Error) return codeOf(first);
  }
  return '';
}

const opensslReason = (cause: unknown): string =>
  String((cause as { reason?: unknown }).reason ?? '').slice(0, 100);

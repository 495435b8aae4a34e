// A call of a node that failed, in a sentence that says what to do.
import { OutgoingError } from '../../outgoing/contract.js';
import type { NodeTarget } from '../model.js';

/**
 * `unreachable`: no connection; `certificate`: another certificate than it should have; `denied`: the node does not admit
 * this panel; `missing`: it has no such path; `failed`: the panel there refuses; `reply`: not a panel's reply; `limit`: too
 * large or too slow; `here`: this panel may not call it.
 */
export type NodeCallCode =
  | 'unreachable'
  | 'certificate'
  | 'denied'
  | 'missing'
  | 'failed'
  | 'reply'
  | 'limit'
  | 'here';

export class NodeCallError extends Error {
  override readonly name = 'NodeCallError';
  readonly code: NodeCallCode;
  /** HTTP status, when there was a reply */
  readonly status: number | undefined;
  /** the code of the node's own error, when it sent one */
  readonly remoteCode: string | undefined;

  constructor(
    code: NodeCallCode,
    sentence: string,
    details: {
      readonly status?: number;
      readonly remoteCode?: string | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(sentence, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.remoteCode = details.remoteCode;
  }
}

const CERTIFICATES: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'is of an authority that is not public',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'is of an authority that is not public, or lacks its chain',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'is of an authority that is not public',
  UNABLE_TO_GET_ISSUER_CERT: 'is of an authority that is not public',
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet; compare the clocks',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another name',
};
const WRONG_TLS = /ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNEXPECTED_MESSAGE)/;

/** The code of Node or OpenSSL, somewhere in the chain of causes. */
export function systemCode(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code, errors } = at as NodeJS.ErrnoException & { errors?: unknown[] };
    if (typeof code === 'string' && !(at instanceof OutgoingError)) return code;
    const [first] = errors ?? [];
    if (first instanceof Error) return systemCode(first);
  }
  return '';
}

/** Whether a call by plain HTTP may have failed because the server expects TLS. */
export const mayExpectTls = (error: unknown): boolean =>
  /^(ECONNRESET|EPIPE|HPE_)/.test(systemCode(error)) || /closed the connection|hang up/.test(String(error));

export function callError(error: unknown, { scheme, address, port }: NodeTarget): NodeCallError {
  if (error instanceof NodeCallError) return error;
  if (!(error instanceof OutgoingError)) throw error;
  const { code, message } = error;
  const place = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  const made = (kind: NodeCallCode, sentence: string) => new NodeCallError(kind, sentence, { cause: error });
  if (code === 'certificate')
    return made('certificate', `${message}; if it was renewed, pin the new one (pinnedCertSha256)`);
  if (code === 'address' && message.includes('listener'))
    return made('here', `${place} is a listener of this panel itself`);
  if (code === 'address')
    return made('here', `${place} is not a public address; if that is meant, set allowPrivateAddress`);
  if (code === 'time' || code === 'size') return made('limit', message);
  if (code === 'redirect')
    return made('reply', `${place} redirects elsewhere, which is not followed; enter the final address`);
  if (code !== 'network') return made('here', message);
  const system = systemCode(error);
  const certificate = CERTIFICATES[system];
  if (certificate !== undefined)
    return made(
      'certificate',
      `the certificate of ${place} ${certificate}; use another one there, or tlsVerifyMode pin with its fingerprint`,
    );
  if (scheme === 'https' && (WRONG_TLS.test(system) || system === 'EPROTO'))
    return made('unreachable', `${place} speaks http, not https; change the scheme, or enable HTTPS there`);
  if (system === 'ECONNREFUSED') return made('unreachable', `nothing listens at ${place}`);
  if (system === 'ENOTFOUND' || system === 'EAI_AGAIN')
    return made('unreachable', `the name ${address} cannot be resolved (${system})`);
  return made('unreachable', message);
}

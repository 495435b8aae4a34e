// The reply of a panel: an envelope, or what is wrong with it.
import type { NodeTarget } from '../model.js';
import { NodeCallError } from './call-error.js';

export interface NodeReply {
  readonly status: number;
  readonly headers: Headers;
  /** from the start of the call until its reply was read */
  readonly ms: number;
  /** of the envelope; whatever the node sent, so check it */
  readonly obj: unknown;
}
const LONGEST_MESSAGE = 500;

/** Printable, and short enough for a record. */
export const shortened = (text: unknown, most = LONGEST_MESSAGE): string =>
  (typeof text === 'string' ? text.slice(0, most) : '').replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');

interface Envelope {
  readonly success?: unknown;
  readonly msg?: unknown;
  readonly obj?: unknown;
  readonly code?: unknown;
}

function parsed(text: string): Envelope | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Throws a NodeCallError unless the reply is a success. */
export function envelopeOf(
  target: NodeTarget,
  path: string,
  { status, headers }: Response,
  text: string,
): unknown {
  const envelope = parsed(text);
  const msg = shortened(envelope?.msg);
  const remoteCode = typeof envelope?.code === 'string' ? shortened(envelope.code, 64) : undefined;
  const place = `${target.address}:${target.port}`;
  const failed = (code: NodeCallError['code'], sentence: string): NodeCallError =>
    new NodeCallError(code, sentence, { status, remoteCode });
  if (status === 401) {
    const what = target.apiToken === '' ? 'the certificate of this panel' : 'the API token';
    const fix =
      target.apiToken === ''
        ? 'let it trust the authority (nodes/mtls/trustCA there)'
        : 'create a new one there';
    throw failed('denied', `${place} does not accept ${what} (401); ${fix}`);
  }
  if (status === 403) throw failed('denied', `${place} forbids ${path} (403)${msg && `: ${msg}`}`);
  if (status === 404 && (remoteCode === undefined || remoteCode === 'KERNEL_NOT_FOUND'))
    throw failed(
      'missing',
      `there is no ${target.basePath}${path} at ${place} (404); check basePath, and the version there`,
    );
  if (envelope?.success === true && status < 400) return envelope.obj;
  if (envelope && 'success' in envelope)
    throw failed(status === 404 ? 'missing' : 'failed', `${place} refuses (${status})${msg && `: ${msg}`}`);
  const media = headers.get('content-type')?.split(';', 1)[0] ?? 'no media type';
  const hint = /plain HTTP request was sent to HTTPS/i.test(text)
    ? 'it speaks https, not http'
    : 'it is not the API of a panel; check address, port and basePath';
  throw failed('reply', `${place} answered ${status} with ${shortened(media, 60)}; ${hint}`);
}

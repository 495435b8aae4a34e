// Why an authority issued no certificate, in words for an admin.
import { messageOf } from '../../kernel/index.js';

const MOST_CHARACTERS = 600;

/** What an authority says in the body of an error (RFC 7807; types in RFC 8555, 6.7). */
export interface ProblemDocument {
  readonly type?: unknown;
  readonly detail?: unknown;
  readonly subproblems?: unknown;
  readonly identifier?: unknown;
}

const MEANING: Readonly<Record<string, string>> = {
  accountDoesNotExist: 'the authority does not know the account of this panel',
  badCSR: 'the authority refused the request for the certificate',
  badNonce: 'the authority refused the nonce several times',
  badPublicKey: 'the authority refused the key type; choose another one',
  caa: 'a CAA record of the name forbids this authority; change the record, or choose another authority',
  connection:
    'the authority could not connect to the name; its A and AAAA records must lead to this machine, with port 80 for http-01 and 443 for tls-alpn-01',
  dns: 'the authority could not look up the name; check its A and AAAA records',
  externalAccountRequired:
    'the authority wants an external account; set acmeKeyId and acmeHmacKey, which it gives you',
  incorrectResponse: 'the name leads to another server, which did not answer the challenge',
  invalidContact: 'the authority refused the address in acmeEmail',
  orderNotReady: 'the authority was not ready for the request',
  rateLimited: 'a limit of the authority is reached',
  rejectedIdentifier: 'the authority does not issue certificates for this name',
  serverInternal: 'the authority has an internal error',
  tls: 'the authority could not do a TLS handshake with the name; port 443 must lead to this machine unchanged',
  unauthorized: 'the authority refused the proof for the name; the name may lead to another server',
  unsupportedContact: 'the authority refused the address in acmeEmail',
  unsupportedIdentifier: 'the authority does not issue certificates for this kind of name',
  userActionRequired: 'the authority waits for an action of yours; it has new terms of service, perhaps',
};
const URN = 'urn:ietf:params:acme:error:';

/** One line without control characters: it is stored, logged and shown. */
export const oneLine = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\s]+/gu, ' ')
    .trim()
    .slice(0, MOST_CHARACTERS);

export const typeOf = ({ type }: ProblemDocument): string =>
  typeof type === 'string' && type.startsWith(URN) ? type.slice(URN.length, URN.length + 64) : '';

const detailOf = ({ detail }: ProblemDocument): string => (typeof detail === 'string' ? oneLine(detail) : '');

function partsOf({ subproblems }: ProblemDocument): string {
  if (!Array.isArray(subproblems)) return '';
  const parts = (subproblems.slice(0, 5) as (ProblemDocument | null)[]).flatMap((part) => {
    const name = (part?.identifier as { value?: unknown } | undefined)?.value;
    const detail = detailOf(part ?? {});
    return detail === '' ? [] : [typeof name === 'string' ? `${oneLine(name)}: ${detail}` : detail];
  });
  return parts.join('; ');
}

/** The sentence for a problem document. */
export function sentenceOf(problem: ProblemDocument, status = 0): string {
  const meaning =
    MEANING[typeOf(problem)] ?? `the authority refused the call${status ? ` with status ${status}` : ''}`;
  const said = [detailOf(problem), partsOf(problem)].filter((text) => text !== '').join('; ');
  return oneLine(said === '' ? meaning : `${meaning} (it says: ${said})`);
}

/** No certificate was issued. The message is for an admin. */
export class CaProblem extends Error {
  override readonly name = 'CaProblem';
  /** type of RFC 8555 without its prefix; empty when the authority named none */
  readonly type: string;
  /** Unix ms before which the authority wants no other attempt; 0: it named none */
  readonly notBefore: number;

  /** The authority has not decided: the same order may still be issued. */
  readonly isTemporary: boolean;

  constructor(
    message: string,
    {
      type = '',
      notBefore = 0,
      isTemporary = false,
    }: { type?: string; notBefore?: number; isTemporary?: boolean } = {},
  ) {
    super(oneLine(message));
    this.type = type;
    this.notBefore = notBefore;
    this.isTemporary = isTemporary;
  }
}

/** Between calls to an authority: a database that is away says nothing about the authority. */
export const inDatabase = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw new CaProblem(messageOf(error), { isTemporary: true });
  });

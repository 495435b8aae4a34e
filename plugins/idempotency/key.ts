// The header Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-07, section 2).
import { kernelErrors } from '../../kernel/index.js';

export const LONGEST_KEY = 255;
/** A string of RFC 8941, section 3.3.3: `"8e03978e-40d5-43dd-bc93-6894a57f9324"`. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;
/** The form that most clients send: visible ASCII without quotes, and without commas, which join two headers. */
export const PLAIN_KEY = /^[\x21\x23-\x2b\x2d-\x7e]+$/;

/** Returns the key without quotes; throws INVALID. */
export function keyOf(header: string | readonly string[]): string {
  const text = String(header).trim();
  const quoted = QUOTED.exec(text)?.[1]?.replaceAll(/\\(["\\])/g, '$1');
  const key = quoted ?? (PLAIN_KEY.test(text) ? text : '');
  if (key === '' || key.length > LONGEST_KEY)
    throw kernelErrors.INVALID(
      `Idempotency-Key must be one key of 1 to ${LONGEST_KEY} visible ASCII characters, such as a UUID`,
      { path: 'Idempotency-Key' },
    );
  return key;
}

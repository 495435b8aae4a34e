// Which URLs the app opens. They are encrypted as they are, byte for byte.
import { errors } from './errors.js';

export const MOST_BYTES = 8192;

function problemOf(source: string): string | undefined {
  if (/[\p{Cc}\p{Cs}]/u.test(source)) return 'it holds a control character or half of a character';
  // URL.parse would find a host in `https:host` and `https:///host`, too.
  if (!/^https?:\/\/[^/]/i.test(source) || !URL.canParse(source))
    return 'it must be an http or https URL with a host';
  const { username, password } = new URL(source);
  return username || password ? 'it must not hold a user name or a password' : undefined;
}

/** Throws where the app cannot open this URL. */
export function checkSource(source: string): void {
  if (Buffer.byteLength(source) > MOST_BYTES) throw errors.SOURCE_TOO_LONG();
  const problem = problemOf(source);
  if (problem)
    throw errors.INVALID_SOURCE(`the app cannot open this URL: ${problem}; correct subURI`, {
      path: 'subURI',
    });
}

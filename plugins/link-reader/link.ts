// Splits a share link into what all schemes have: scheme, body and name. Limits come first.
import { LinkError } from './link-error.js';
import { hasControl, inBase64, lenientlyUnescaped, oneLine } from './text.js';

/** Characters of a link; keys of ML-DSA, lists of ECH configs and VLESS's own encryption take thousands. */
const LONGEST = 16_384;
const LONGEST_NAME = 255;
const LONGEST_DESCRIPTION = 64;

export interface Link {
  /** in lower case */
  readonly scheme: string;
  /** between `://` and `#`, as it was written */
  readonly body: string;
  /** unescaped, one line; empty for none */
  readonly name: string;
  /** a line that some programs show below the name; empty for none */
  readonly description: string;
}

/** One line of a length that programs show. */
export const shownName = (text: string): string =>
  oneLine(text)
    .slice(0, LONGEST_NAME)
    .replaceAll(/\p{Cs}/gu, '\uFFFD');

/** Source: www.happ.su, `serverDescription`; it stands behind the name and is not escaped. */
const DESCRIPTION = /\?serverDescription=([A-Za-z0-9+/]{1,400}={0,2})$/;

function nameOf(fragment: string): Pick<Link, 'name' | 'description'> {
  const [tail = '', base64 = ''] = DESCRIPTION.exec(fragment) ?? [];
  const description = oneLine(inBase64(base64) ?? '').slice(0, LONGEST_DESCRIPTION);
  const shown = tail === '' ? fragment : fragment.slice(0, -tail.length);
  return { name: shownName(lenientlyUnescaped(shown)), description };
}

export function splitLink(given: string): Link {
  if (given.length > LONGEST)
    throw new LinkError('link', `it has ${given.length} characters; a link may have ${LONGEST}`);
  const text = given.trim();
  if (hasControl(text)) throw new LinkError('link', 'it contains control characters');
  const [start = '', scheme = ''] = /^([a-z][a-z0-9+.-]{0,31}):\/\//i.exec(text) ?? [];
  if (scheme === '') throw new LinkError('scheme', 'it does not begin with a scheme such as vless://');
  const rest = text.slice(start.length);
  const hash = rest.indexOf('#');
  return {
    scheme: scheme.toLowerCase(),
    body: hash < 0 ? rest : rest.slice(0, hash),
    ...nameOf(hash < 0 ? '' : rest.slice(hash + 1)),
  };
}

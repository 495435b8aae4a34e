// Which calls the page of a plugin may ask for: `GET x/acme/entries/*`, a method and a path below /panel/api/.
// Used by the panel when a page is declared, and by the web page before it sends a call.

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** What a segment of a path may consist of; percent-encoded text is decoded once and must not become a path again. */
const SEGMENT = /^[\w.~!$&'()+,;=:@%-]+$/;
const MOST_PATH = 1000;

/** What is wrong with a pattern, if anything. */
export function patternProblem(pattern: string): string | undefined {
  const [method = '', path = '', ...more] = pattern.split(' ');
  if (more.length > 0 || !(METHODS as readonly string[]).includes(method))
    return `it must be a method (${METHODS.join(', ')}), a space and a path`;
  const segments = path.split('/');
  if (segments[0] === '*' || segments[0] === '**') return 'its path must begin with a name';
  const isValid = segments.every(
    (segment, at) =>
      segment === '*' ||
      (segment === '**' && at === segments.length - 1) ||
      /^[\w.-]*\w[\w.-]*$/.test(segment),
  );
  return isValid ? undefined : 'its path must be names, * for one segment, or ** for the rest';
}

/** The segments of a path that stays where it says; undefined for `..`, encoded slashes, a host, a fragment. */
function segmentsOf(path: string): readonly string[] | undefined {
  if (path.length > MOST_PATH) return undefined;
  const segments = path.split('/');
  for (const segment of segments) {
    if (!SEGMENT.test(segment)) return undefined;
    let plain: string;
    try {
      plain = decodeURIComponent(segment);
    } catch {
      return undefined;
    }
    // A second decoding, of a proxy for instance, must change nothing either.
    if (/^\.+$/.test(plain) || /[/\\?#%\p{Cc}]/u.test(plain)) return undefined;
  }
  return segments;
}

/** Whether a call is one of those declared. `path` may have a query. */
export function isAllowed(patterns: readonly string[], method: string, path: string): boolean {
  // Before anything else: a frame may send hundreds of megabytes.
  if (path.length > 2 * MOST_PATH) return false;
  const [plain = '', ...query] = path.split('?');
  if (query.length > 1 || /[#\\\s\p{Cc}]/u.test(path)) return false;
  const segments = segmentsOf(plain);
  if (!segments) return false;
  return patterns.some((pattern) => {
    const [allowed, wanted = ''] = pattern.split(' ');
    if (allowed !== method) return false;
    const parts = wanted.split('/');
    const isOpen = parts.at(-1) === '**';
    if (isOpen ? segments.length < parts.length : segments.length !== parts.length) return false;
    return parts.every((part, at) => part === '*' || part === '**' || part === segments[at]);
  });
}

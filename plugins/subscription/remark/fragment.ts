// The remark as the fragment (`#…`) of a share link.

const DESCRIPTION = '?serverDescription=';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/;
/** encodeURIComponent does not escape these; other panels of the family do. */
const LEFT_ALONE = "!'()*";

/** By ASCII code: 0 must be escaped, 1 stays, 2 is one of LEFT_ALONE. */
const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (LEFT_ALONE.includes(character)) return 2;
  return /[A-Za-z0-9\-_.~]/.test(character) ? 1 : 0;
});

/**
 * The remark, percent-encoded for a URL fragment, a space as `%20`. A tail `?serverDescription={base64}` (standard alphabet, padded, not empty) stays literal:
 * apps of one vendor cut it off the name and show its text below. The caller adds the `#`.
 */
export function encodeFragment(remark: string): string {
  const mark = remark.lastIndexOf(DESCRIPTION);
  if (mark !== -1 && BASE64.test(remark.slice(mark + DESCRIPTION.length))) {
    return percentEncode(remark.slice(0, mark)) + remark.slice(mark);
  }
  return percentEncode(remark);
}

/** Everything except `A-Z a-z 0-9 - _ . ~` as `%XX` of its UTF-8 bytes (RFC 3986, section 2.3). */
export function percentEncode(text: string): string {
  let plain = true;
  let leftAlone = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const kind = code < 128 ? KINDS[code] : 0;
    if (kind === 1) continue;
    plain = false;
    if (kind === 2) leftAlone = true;
  }
  if (plain) return text;
  const encoded = encode(text);
  return leftAlone ? escapeLeftAlone(encoded) : encoded;
}

/** Half a surrogate pair (a name cut by some other program) becomes U+FFFD; encodeURIComponent would throw. */
function encode(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return encodeURIComponent(Buffer.from(text, 'utf8').toString('utf8'));
  }
}

function escapeLeftAlone(encoded: string): string {
  let escaped = '';
  for (const character of encoded) {
    escaped += LEFT_ALONE.includes(character)
      ? `%${character.charCodeAt(0).toString(16).toUpperCase()}`
      : character;
  }
  return escaped;
}

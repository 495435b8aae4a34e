// The grammar of I1 to I5, packets that are sent before a handshake: `<b 0xc0ff><r 64><t>`. The program crashes on a tag
// that it cannot read, so each is checked before. Source: docs.amnezia.org, "Custom Protocol Signature".

const MOST_RANDOM = 1000;
const LARGEST_PACKET = 65_000;

/** Returns the bytes of a tag; undefined if it is not valid. */
function sizeOfTag(name: string, value: string): number | undefined {
  if (name === 'b') return /^0[xX][\da-fA-F]+$/.test(value) ? Math.ceil((value.length - 2) / 2) : undefined;
  if (name === 'c' || name === 't') return value === '' ? 8 : undefined;
  if (name !== 'r' && name !== 'rc' && name !== 'rd') return undefined;
  const size = /^\d{1,4}$/.test(value) ? Number(value) : 0;
  return size >= 1 && size <= MOST_RANDOM ? size : undefined;
}

/** Returns what is wrong with the text of such a packet; undefined for a valid one, and for a blank one. */
export function tagsProblem(text: string): string | undefined {
  if (text === '') return undefined;
  if (!/^(?:\s*<[^<>]+>)+\s*$/.test(text)) return 'it must be tags such as <b 0xc0ff><r 64><t>';
  const seen = new Set<string>();
  let size = 0;
  for (const [whole, name = '', value = ''] of text.matchAll(/<([a-z]+)(?:\s+([^<>\s]+))?>|<[^>]*>/g)) {
    const bytes = sizeOfTag(name, value);
    if (bytes === undefined)
      return `${whole.slice(0, 40)} is not a valid tag; there are <b 0xHEX>, <r N>, <rc N>, <rd N> (N up to ${MOST_RANDOM}), <c> and <t>`;
    if ((name === 'c' || name === 't') && seen.has(name)) return `<${name}> may stand there only once`;
    seen.add(name);
    size += bytes;
  }
  return size > LARGEST_PACKET ? `its packet would have ${size} bytes, more than fit into one` : undefined;
}

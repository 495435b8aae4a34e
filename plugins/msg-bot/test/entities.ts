// The HTML of the Bot API, as strictly as the real server reads it.

const TAGS = new Set(['b', 'strong', 'i', 'em', 'u', 's', 'code', 'pre', 'a']);
const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

/** Characters (UTF-16 units) after the marks are read, or what is wrong. */
export function entityLength(html: string): number | string {
  const open: string[] = [];
  let length = 0;
  for (let at = 0; at < html.length; ) {
    const char = html[at];
    if (char === '<') {
      const end = html.indexOf('>', at);
      const tag = /^<(\/?)([a-z]+)>$/.exec(html.slice(at, end + 1));
      if (end < 0 || !tag || !TAGS.has(tag[2] ?? '')) return `Unsupported start tag at byte offset ${at}`;
      if (tag[1] === '') open.push(tag[2] ?? '');
      else if (open.pop() !== tag[2]) return `Unexpected end tag at byte offset ${at}`;
      at = end + 1;
    } else if (char === '&') {
      const name = /^&([a-z]+);/.exec(html.slice(at, at + 10))?.[1] ?? '';
      if (!(name in NAMED)) return `Unsupported entity at byte offset ${at}`;
      length++;
      at += name.length + 2;
    } else {
      length++;
      at++;
    }
  }
  return open.length > 0 ? `Can't find end tag corresponding to start tag ${open.at(-1)}` : length;
}

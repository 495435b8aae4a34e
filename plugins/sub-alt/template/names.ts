// Names of a document: proxies and groups share one space, and mihomo refuses a file with the same name twice.

/** The group of all proxies that a document has. */
export const GROUP = 'PROXY';
/** Proxies that mihomo has by itself. Source: wiki.metacubex.one, built-in proxies. */
export const BUILT_IN = ['DIRECT', 'REJECT', 'REJECT-DROP', 'REJECT-TINYGIF', 'COMPATIBLE', 'PASS', 'GLOBAL'];

const MARK = ' (proxy)';
/** The name of a client's proxy where groups and other proxies have some: two different names stay different. */
export function apart(name: string, taken: ReadonlySet<string>): string {
  let bare = name;
  while (bare.endsWith(MARK)) bare = bare.slice(0, -MARK.length);
  return taken.has(bare) ? name + MARK : name;
}

import { shownName } from '../format/names.js';

/** The name that a share link carries after its `#`, with its scheme; blank for a link without one. */
export function linkName(link: string): string {
  const at = link.indexOf('#');
  if (at === -1) return '';
  let name = link.slice(at + 1);
  try {
    name = decodeURIComponent(name);
  } catch {
    // Shown as it is.
  }
  const scheme = /^([a-z][a-z\d+.-]*):/i.exec(link)?.[1] ?? '';
  return `${shownName(name)}${scheme && ` (${scheme})`}`;
}

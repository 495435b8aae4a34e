// Areas of the bar with several pages: each page has the others of its area above it.
import type { MessageKey } from '../language/message-key.js';

export interface AreaPage {
  readonly to: '/clients' | '/groups' | '/inbounds' | '/hosts';
  readonly text: MessageKey;
  /** pages that belong to it, such as that of one record */
  readonly also: readonly string[];
  /** it is not offered while this one does not run */
  readonly plugin?: string;
}
export interface Area {
  /** its page in the bar */
  readonly to: string;
  readonly pages: readonly AreaPage[];
}

export const AREAS: readonly Area[] = [
  {
    to: '/clients',
    pages: [
      { to: '/clients', text: 'clients.title', also: ['/client'] },
      { to: '/groups', text: 'groups.title', also: [] },
    ],
  },
  {
    to: '/inbounds',
    pages: [
      { to: '/inbounds', text: 'inbounds.title', also: [] },
      { to: '/hosts', text: 'hosts.title', also: ['/host', '/host/new'], plugin: 'hosts' },
    ],
  },
];

const isOf = (page: AreaPage, path: string): boolean => page.to === path || page.also.includes(path);

/** The area of a path, and its page in it. */
export function areaOf(path: string): { readonly area: Area; readonly page: AreaPage } | undefined {
  for (const area of AREAS) {
    const page = area.pages.find((one) => isOf(one, path));
    if (page) return { area, page };
  }
  return undefined;
}

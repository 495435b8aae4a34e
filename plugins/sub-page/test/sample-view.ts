// What the server gives to the page, for tests.
import type { PageView, StatusView } from '../../subscription/contract.js';

export const GB = 1024 ** 3;
export const NOW = Date.UTC(2026, 10, 22, 12);
const DAY = 86_400;
export const URL_OF_ADA = 'https://sub.example.com:2096/kqzpvbxw/9f3k2jd8s7a6q1w0';

export const link = (i: number): string =>
  `vless://11111111-2222-4333-8444-555555555555@de${i}.example.com:443?encryption=none&flow=xtls-rprx-vision&fp=chrome&pbk=SbVKOEMjK0sIlbwg4akyBg5mL5KZwwB-ed4eEE7YnRc&security=reality&sid=6ba85179e30d4fc2&sni=www.example.com&spx=%2F&type=tcp#Germany-${i}`;
export const links = (count: number): PageView['links'] =>
  Array.from({ length: count }, (_, i) => ({ name: `Germany ${i}-ada`, link: link(i) }));

export function sampleView(
  changes: Partial<Omit<PageView, 'status'>> & { readonly status?: Partial<StatusView> } = {},
): PageView {
  return {
    state: 'working',
    urls: [
      { format: 'json', url: URL_OF_ADA.replace('kqzpvbxw', 'jsonpath') },
      { format: 'links', url: URL_OF_ADA },
      { format: 'alt', url: URL_OF_ADA.replace('kqzpvbxw', 'altpath') },
      { format: 'sing-box', url: URL_OF_ADA.replace('kqzpvbxw', 'boxpath') },
    ],
    timeFromFirstUse: undefined,
    devices: undefined,
    links: links(3),
    now: NOW,
    timeZone: 'UTC',
    ...changes,
    status: {
      sId: '9f3k2jd8s7a6q1w0',
      enabled: true,
      isOnline: false,
      download: '31.40GB',
      upload: '2.25GB',
      used: '33.65GB',
      total: '80.00GB',
      remained: '46.35GB',
      expire: NOW / 1000 + 12 * DAY + 3600,
      lastOnline: NOW - 3 * 3_600_000,
      downloadByte: 31.4 * GB,
      uploadByte: 2.25 * GB,
      totalByte: 80 * GB,
      subUrl: URL_OF_ADA,
      subJsonUrl: '',
      subAltUrl: '',
      subTitle: 'Example VPN',
      subSupportUrl: 'https://t.me/example_support',
      announce: 'On Friday the servers in Germany are renewed.',
      subUpdates: 12,
      datepicker: 'gregorian',
      emails: ['ada@example.org'],
      ...changes.status,
    },
  };
}
export const FULL_PLACES = { active: true, full: true, limit: 2, registered: 2, remaining: 0 } as const;
export const SOME_PLACES = { active: true, full: false, limit: 3, registered: 2, remaining: 1 } as const;

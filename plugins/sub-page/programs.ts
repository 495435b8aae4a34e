// Client programs that take a subscription from a link, as their own documentation or source says.

export const SYSTEMS = ['Android', 'iOS', 'Windows', 'macOS', 'Linux'] as const;
export type System = (typeof SYSTEMS)[number];

/** By words of its browsers; the first that is found, because those of phones name other systems, too. */
const WORDS: readonly (readonly [word: string, system: System])[] = [
  ['Android', 'Android'],
  ['iPhone', 'iOS'],
  ['iPad', 'iOS'],
  ['Windows', 'Windows'],
  ['Macintosh', 'macOS'],
  ['Linux', 'Linux'],
];
export const systemOf = (agent: string): System | undefined =>
  WORDS.find(([word]) => agent.includes(word))?.[1];

/** What a link says: the URL of the subscription, and its title, which is never empty. */
type Write = (url: string, title: string) => string;
interface Program {
  readonly name: string;
  readonly systems: readonly System[];
  /** name of the format that it reads */
  readonly format: string;
  readonly write: Write;
}

const of = encodeURIComponent;
const inQuery =
  (start: string): Write =>
  (url, title) =>
    `${start}?url=${of(url)}&name=${of(title)}`;
const inPath =
  (start: string): Write =>
  (url) =>
    start + url;
const inPathWithTitle =
  (start: string): Write =>
  (url, title) =>
    `${start}${url}#${of(title)}`;

const PROGRAMS: readonly Program[] = [
  { name: 'Hiddify', systems: SYSTEMS, format: 'links', write: inPathWithTitle('hiddify://import/') },
  {
    name: 'v2rayNG',
    systems: ['Android'],
    format: 'links',
    write: (url, title) => `v2rayng://install-sub?url=${of(url)}#${of(title)}`,
  },
  { name: 'Happ', systems: SYSTEMS, format: 'links', write: inPath('happ://add/') },
  { name: 'INCY', systems: ['Android', 'iOS'], format: 'links', write: inPath('incy://add/') },
  {
    name: 'v2RayTun',
    systems: ['Android', 'iOS', 'Windows', 'macOS'],
    format: 'links',
    write: inPath('v2raytun://import/'),
  },
  { name: 'NekoBox', systems: ['Android'], format: 'links', write: inQuery('sn://subscription') },
  {
    name: 'Streisand',
    systems: ['iOS', 'macOS'],
    format: 'links',
    write: inPathWithTitle('streisand://import/'),
  },
  {
    name: 'Shadowrocket',
    systems: ['iOS', 'macOS'],
    format: 'links',
    write: (url, title) =>
      `shadowrocket://add/sub://${Buffer.from(url).toString('base64url')}?remark=${of(title)}`,
  },
  { name: 'V2Box', systems: ['iOS', 'macOS'], format: 'links', write: inQuery('v2box://install-sub') },
  { name: 'Karing', systems: SYSTEMS, format: 'links', write: inQuery('karing://install-config') },
  {
    name: 'Clash Meta, FlClash',
    systems: ['Android'],
    format: 'alt',
    write: inQuery('clash://install-config'),
  },
  {
    name: 'Clash Verge, FlClash',
    systems: ['Windows', 'macOS', 'Linux'],
    format: 'alt',
    write: inQuery('clash://install-config'),
  },
  { name: 'Stash', systems: ['iOS', 'macOS'], format: 'alt', write: inQuery('stash://install-config') },
  {
    name: 'sing-box',
    systems: ['Android', 'iOS', 'macOS'],
    format: 'sing-box',
    write: (url, title) => `sing-box://import-remote-profile?url=${of(url)}#${of(title)}`,
  },
];

export interface Import {
  readonly name: string;
  readonly link: string;
}
/** The programs of a system that read one of these formats. */
export function importsOn(
  system: System,
  urls: readonly { readonly format: string; readonly url: string }[],
  title: string,
): Import[] {
  return PROGRAMS.filter(({ systems }) => systems.includes(system)).flatMap(({ name, format, write }) => {
    const found = urls.find((one) => one.format === format);
    return found ? [{ name, link: write(found.url, title) }] : [];
  });
}

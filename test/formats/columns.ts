// Pairs of a format and a program that reads it: the columns of docs/formats.md, and what a program cannot do with a
// document that is right.
import { RANGES, type Way } from './ways.js';

export interface Column {
  readonly format: string;
  readonly program: string;
  readonly title: string;
  /** settings that serve the format at `path` */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly path: string;
  /** Why the entry is for other programs only. */
  unknown(way: Way): string | undefined;
  /** Why this program carries no bytes of the way, whose document it accepts all the same. */
  limit(way: Way): string | undefined;
}

const REALITY =
  'a mihomo that is built with a current Go cannot finish a handshake of REALITY; its own releases may carry it';
const XHTTP = 'mihomo has XHTTP in its newest releases only';
const ENCRYPTION = "mihomo has VLESS's own encryption in its newest releases only";

const HEADER_RANGES =
  'an older mihomo refuses the file when a header of AmneziaWG is a range; 1.19.30 is known to read it';

export const COLUMNS: readonly Column[] = [
  {
    format: 'links',
    program: 'Xray',
    title: 'links in Xray',
    settings: { subPath: '/links/' },
    path: '/links/',
    unknown: ({ isServed }) => (isServed ? undefined : 'Xray does not speak this protocol'),
    limit: () => undefined,
  },
  {
    format: 'json',
    program: 'Xray',
    title: 'JSON in Xray',
    settings: { subJsonEnable: true, jsonPath: '/json/' },
    path: '/json/',
    unknown: () => undefined,
    limit: () => undefined,
  },
  {
    format: 'alt',
    program: 'mihomo',
    title: 'YAML in mihomo',
    settings: { subAltEnable: true, altFormatPath: '/alt/' },
    path: '/alt/',
    unknown: ({ protocol }) => (protocol === RANGES ? HEADER_RANGES : undefined),
    limit: ({ protocol, transport, security }) => {
      if (security === 'reality') return REALITY;
      if (transport === 'xhttp') return XHTTP;
      return protocol === 'vless with its own encryption' ? ENCRYPTION : undefined;
    },
  },
  {
    format: 'sing-box',
    program: 'sing-box',
    title: 'sing-box',
    settings: { subSingBoxEnable: true, subSingBoxPath: '/box/' },
    path: '/box/',
    unknown: () => undefined,
    limit: () => undefined,
  },
];

/** What becomes of a way in a column. */
export type Cell =
  | { readonly kind: 'carried' }
  /** The program accepts the document; nothing more is known. */
  | { readonly kind: 'accepted'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string }
  /** The format writes it for other programs. */
  | { readonly kind: 'not applicable'; readonly reason: string };

const UNSERVED = 'the panel has no program yet that serves this protocol, so only the text is proved';

export function cellOf(column: Column, way: Way, refusal: string | undefined): Cell {
  if (refusal !== undefined) return { kind: 'refused', reason: refusal };
  const unknown = column.unknown(way);
  if (unknown !== undefined) return { kind: 'not applicable', reason: unknown };
  const reason = way.isServed ? column.limit(way) : UNSERVED;
  return reason === undefined ? { kind: 'carried' } : { kind: 'accepted', reason };
}

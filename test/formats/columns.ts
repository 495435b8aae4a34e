// Pairs of a format and a program that reads it: the columns of docs/formats.md, and what a program cannot do with a
// document that is right.
import type { Way } from './ways.js';

export interface Column {
  readonly format: string;
  readonly program: string;
  readonly title: string;
  /** settings that serve the format at `path` */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly path: string;
  /** The program has no such protocol. */
  knows(way: Way): boolean;
  /** Why this program carries no bytes of the way, whose document it accepts all the same. */
  limit(way: Way): string | undefined;
}

const REALITY =
  'a mihomo that is built with a current Go cannot finish a handshake of REALITY; its own releases may carry it';
const XHTTP = 'mihomo has XHTTP in its newest releases only';
const ENCRYPTION = "mihomo has VLESS's own encryption in its newest releases only";

export const COLUMNS: readonly Column[] = [
  {
    format: 'links',
    program: 'Xray',
    title: 'links in Xray',
    settings: { subPath: '/links/' },
    path: '/links/',
    knows: ({ isServed }) => isServed,
    limit: () => undefined,
  },
  {
    format: 'json',
    program: 'Xray',
    title: 'JSON in Xray',
    settings: { subJsonEnable: true, jsonPath: '/json/' },
    path: '/json/',
    knows: () => true,
    limit: () => undefined,
  },
  {
    format: 'alt',
    program: 'mihomo',
    title: 'YAML in mihomo',
    settings: { subAltEnable: true, altFormatPath: '/alt/' },
    path: '/alt/',
    knows: () => true,
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
    knows: () => true,
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
  | { readonly kind: 'not applicable' };

const UNSERVED = 'the panel has no program yet that serves this protocol, so only the text is proved';

export function cellOf(column: Column, way: Way, refusal: string | undefined): Cell {
  if (refusal !== undefined) return { kind: 'refused', reason: refusal };
  if (!column.knows(way)) return { kind: 'not applicable' };
  const reason = way.isServed ? column.limit(way) : UNSERVED;
  return reason === undefined ? { kind: 'carried' } : { kind: 'accepted', reason };
}

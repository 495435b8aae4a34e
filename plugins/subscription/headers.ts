// Headers of a subscription: those that depend on settings alone are computed when these change.
import { validateHeaderValue } from 'node:http';
import type { SettingValues } from '../../kernel/index.js';
import type { ClientRow } from '../clients/contract.js';
import type { Format } from './contract.js';
import { percentEncode } from './remark/fragment.js';
import type { subscriptionSettings } from './settings.js';

export interface FixedHeaders {
  /** name, value, name, value … */
  readonly list: readonly string[];
  /** the same, encoded for the wire */
  readonly text: string;
}
type Values = SettingValues<typeof subscriptionSettings>;
/** Headers that depend on the settings, computed when these change. */
export interface SettledHeaders {
  readonly settings: Values;
  /** value of the header; '' for none */
  readonly routing: string;
  readonly fixed: FixedHeaders;
  readonly personal: readonly (readonly [name: string, value: (client: ClientRow, host: string) => string])[];
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
const identity: Readonly<Record<string, (client: ClientRow) => string>> = {
  EMAIL: (c) => c.email,
  ID: (c) => c.uuid,
  SHORT_ID: (c) => c.uuid.slice(0, 8),
  SUB_ID: (c) => c.subId,
  TELEGRAM_ID: (c) => (c.tgId === 0 ? '' : String(c.tgId)),
};
const asIs = (text: string): string => text;
/** Headers know only these five tokens; in links their values are escaped as in forms. */
export const expand = (
  template: string,
  client: ClientRow,
  escaped: (text: string) => string = asIs,
): string =>
  template.includes('{{')
    ? template
        .replaceAll(/\{\{(EMAIL|ID|SHORT_ID|SUB_ID|TELEGRAM_ID)\}\}/g, (_, name: string) =>
          escaped(identity[name]?.(client) ?? ''),
        )
        .trim()
    : template;
/** Halves of surrogate pairs, which older databases may contain, cannot be escaped. */
const wellFormed = (text: string): string => text.replaceAll(/\p{Cs}/gu, '\uFFFD');
const inUrl = (text: string): string => encodeURIComponent(wellFormed(text)).replaceAll('%20', '+');
/** Header values are Latin-1 on the wire; other characters are escaped as in a URL. */
const headerSafe = (url: string): string => wellFormed(url).replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent);

export const expandedLink = (template: string, client: ClientRow): string =>
  headerSafe(expand(template, client, inUrl));

export const userInfo = ({ up, down, totalGB }: ClientRow, expire: number): string =>
  `upload=${up}; download=${down}; total=${totalGB}; expire=${expire}`;

/** As RFC 8187: what is no letter or digit is escaped. */
const disposition = (title: string): string => `attachment; filename*=UTF-8''${percentEncode(title)}`;

type Personal = SettledHeaders['personal'][number];

/** `pageOf` is the address of the page of a client. */
export function settleHeaders(
  { contentType, fileName }: Format,
  settings: Values,
  routing: string,
  pageOf: (client: ClientRow, host: string) => string,
): SettledHeaders {
  const { subTitle, subSupportUrl, subProfileUrl, subProfileMode, subAnnounce } = settings;
  const when = (wanted: unknown, name: string, value: Personal[1]): Personal[] =>
    wanted ? [[name, value]] : [];
  const text = (template: string) => (client: ClientRow) => `base64:${base64(expand(template, client))}`;
  const url = (template: string) => (client: ClientRow) => expandedLink(template, client);
  const isCustom = subProfileMode === 'custom' || subProfileMode === '';
  const personal = [
    ...when(subTitle, 'Profile-Title', text(subTitle)),
    ...when(subSupportUrl, 'Support-Url', url(subSupportUrl)),
    ...when(isCustom && subProfileUrl, 'Profile-Web-Page-Url', url(subProfileUrl)),
    ...when(subProfileMode === 'builtin', 'Profile-Web-Page-Url', pageOf),
    ...when(subAnnounce, 'Announce', text(subAnnounce)),
    ...when(fileName !== undefined && subTitle, 'Content-Disposition', (client) =>
      disposition(expand(subTitle, client)),
    ),
  ];
  // The path is a secret and the body contains credentials: no cache may store them.
  const fixed = [
    ['Content-Type', contentType],
    ['Cache-Control', 'no-store'],
    ['X-Content-Type-Options', 'nosniff'],
    ['Profile-Update-Interval', String(settings.subUpdates)],
    ...(settings.subEnableRouting ? [['Routing-Enable', 'true'] as const] : []),
    ...(routing ? [['Routing', headerSafe(routing)] as const] : []),
    ...(settings.subHideSettings ? [['Hide-Settings', '1'] as const] : []),
  ] as const;
  for (const [name, value] of fixed) validateHeaderValue(name, value);
  return {
    settings,
    routing,
    fixed: { list: fixed.flat(), text: fixed.map(([name, value]) => `${name}: ${value}\r\n`).join('') },
    personal,
  };
}

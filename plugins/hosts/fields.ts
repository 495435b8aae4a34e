// The fields of a host group, each declared once: column, schema and initial value. A new field needs a line here, a
// migration, and its effect in way.ts.
import {
  anything,
  bool,
  column,
  custom,
  describedAs,
  field,
  Fields,
  int,
  list,
  nullable,
  oneOf,
  type Schema,
  text,
  type Values,
  word,
} from '../../kernel/index.js';

const line = (longest: number) =>
  text()
    .max(longest)
    .pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text of one line without control characters');
/** Text that stands in a URL or a header line. */
const oneWord = (longest = 1024) =>
  text()
    .max(longest)
    .pattern(/^[^\s\p{Cc}\p{Cs}]*$/u, 'text without spaces');
const FINGERPRINT =
  /^(?:|chrome|firefox|safari|ios|android|edge|360|qq|random|randomized|randomizednoalpn|unsafe|hello[a-z0-9_]+)$/;
/** A SHA-256: 64 hexadecimal digits, with or without colons, or base64. */
const PIN = /^(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){31}|[A-Za-z0-9+/_-]{43}=?)$/;
/** Longest JSON text. */
const LONGEST_JSON = 20_000;

const ROUTE = /^\d{1,5}$/;
/** A number as text, as the API has it; a number is taken as well. */
const route = () =>
  custom<string>(
    describedAs(anything(), {
      anyOf: [
        {
          type: 'string',
          pattern: '^([0-5]?[0-9]{1,4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])?$',
        },
        { type: 'integer', minimum: 0, maximum: 65_535 },
      ],
      description: '0 to 65535, for the rules of the core; only for VLESS',
    }).custom((value: unknown, state) => {
      const number = typeof value === 'number' ? String(value) : value;
      return typeof number === 'string' &&
        (number.trim() === '' || (ROUTE.test(number.trim()) && Number(number) <= 65_535))
        ? number.trim()
        : state.error('any.custom', { error: new Error('it must be a number from 0 to 65535, or empty') });
    }),
  );
/** Existing programs send numbers as text. */
const numeric = () => int().min(0).prefs({ convert: true });
const texts = (item: Schema<string>, most: number) => list(item).max(most);

const SECURITIES = ['same', 'none', 'tls', 'reality'] as const;
const IP_VERSIONS = ['', 'dual', 'ipv4', 'ipv6', 'ipv4-prefer', 'ipv6-prefer'] as const;
const none = (): string[] => [];

export const hostFields = {
  remark: field({
    column: column.text(),
    schema: word()
      .max(256)
      .pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text of one line without control characters')
      .description('name of the host, `{{HOST}}` in the names of links; may hold the tokens of these'),
    initial: '',
  }),
  serverDescription: field({ column: column.text(), schema: line(64), initial: '' }),
  isDisabled: field({ column: column.bool(), schema: bool(), initial: false }),
  isHidden: field({
    column: column.bool(),
    schema: bool().description('only the panel shows it; subscriptions do not contain it'),
    initial: false,
  }),
  port: field({
    column: column.integer(),
    schema: numeric().max(65_535).description('of hosts without a port of their own; 0: of the inbound'),
    initial: 0,
  }),
  security: field({
    column: column.text<(typeof SECURITIES)[number]>(),
    schema: oneOf(...SECURITIES),
    initial: 'same',
  }),
  sni: field({ column: column.text(), schema: oneWord(255), initial: '' }),
  overrideSniFromAddress: field({ column: column.bool(), schema: bool(), initial: false }),
  keepSniBlank: field({
    column: column.bool(),
    schema: bool().description('neither `sni` nor the address replaces the name of the inbound'),
    initial: false,
  }),
  hostHeader: field({ column: column.text(), schema: oneWord(255), initial: '' }),
  path: field({ column: column.text(), schema: oneWord(), initial: '' }),
  alpn: field({
    column: column.json<string[]>(),
    schema: texts(oneOf('h3', 'h2', 'http/1.1') as Schema<string>, 3),
    initial: none,
  }),
  fingerprint: field({
    column: column.text(),
    schema: text().max(64).pattern(FINGERPRINT, 'name of a fingerprint such as chrome or firefox'),
    initial: '',
  }),
  pinnedPeerCertSha256: field({
    column: column.json<string[]>(),
    schema: texts(word().pattern(PIN, 'SHA-256 in hexadecimal or base64'), 32),
    initial: none,
  }),
  verifyPeerCertByName: field({ column: column.text(), schema: oneWord(), initial: '' }),
  echConfigList: field({ column: column.text(), schema: oneWord(20_000), initial: '' }),
  cipherSuites: field({
    column: column.text(),
    schema: text()
      .max(2000)
      .pattern(/^(?:[A-Za-z0-9_-]+(?::[A-Za-z0-9_-]+)*)?$/, 'names of cipher suites, separated by colons'),
    initial: '',
  }),
  allowInsecure: field({ column: column.bool(), schema: bool(), initial: false }),
  muxParams: field({
    column: column.optionalText(),
    schema: nullable(text().max(LONGEST_JSON)).description('JSON: the multiplexing of the client'),
    initial: null as string | null,
  }),
  sockoptParams: field({
    column: column.optionalText(),
    schema: nullable(text().max(LONGEST_JSON)).description('JSON: socket options of the client'),
    initial: null as string | null,
  }),
  finalMask: field({
    column: column.text(),
    schema: text().max(LONGEST_JSON).description('JSON: masks, after those of the inbound'),
    initial: '',
  }),
  vlessRoute: field({ column: column.text(), schema: route(), initial: '' }),
  altIpVersion: field({
    column: column.text<(typeof IP_VERSIONS)[number]>(),
    schema: oneOf(...IP_VERSIONS),
    initial: '',
  }),
  altX25519: field({ column: column.bool(), schema: bool(), initial: false }),
  shuffleHost: field({
    column: column.bool(),
    schema: bool().description('each client gets the addresses of the group in an order of its own'),
    initial: false,
  }),
  excludeFromSubTypes: field({
    column: column.json<string[]>(),
    schema: texts(word().max(64), 100).description(
      'formats that leave the group out: raw, json, alt, or the name of another one',
    ),
    initial: none,
  }),
  tags: field({
    column: column.json<string[]>(),
    schema: texts(
      word()
        .max(36)
        .pattern(/^[A-Z0-9_:]+$/, 'tag of capital letters, digits, _ and :'),
      10,
    ).unique(),
    initial: none,
  }),
  nodeGuids: field({
    column: column.json<string[]>(),
    schema: texts(
      word()
        .max(64)
        .pattern(/^[\w.:-]+$/, 'guid of a node'),
      1000,
    ).description(
      'guids of panels: the group is only for inbounds that run on their machines; empty: for all',
    ),
    initial: none,
  }),
  sortOrder: field({ column: column.integer(), schema: numeric(), initial: 0 }),
};
export type HostFields = Values<typeof hostFields>;
export const hostRecord = new Fields(hostFields);

// The fields of a host as they are typed in a form, what each does to a link, and what of them was changed.
import type { HostsListReply, HostsUpdateInput } from '../../../../sdk/index.js';
import { wholeOf } from '../clients/fields.js';
import { jsonOf } from '../forms/values.js';

export type HostGroup = HostsListReply[number];
type Body = NonNullable<HostsUpdateInput['body']>;

type Input = 'line' | 'lines' | 'number' | 'switch' | 'choice' | 'checks' | 'json';
interface Declared {
  readonly input: Input;
  readonly section: 'place' | 'security' | 'transport' | 'readers' | 'documents';
  readonly isAdvanced?: true;
  /** values of a choice or of checks; those of `nodeGuids` are on the panel */
  readonly options?: readonly string[];
  /** where a share link says it; without it only documents such as JSON do, or none */
  readonly inLink?: string;
  /** of TLS or REALITY: without them it says nothing */
  readonly isOfSecurity?: true;
  readonly longest?: number;
}

const FINGERPRINTS = [
  '',
  'chrome',
  'firefox',
  'safari',
  'ios',
  'android',
  'edge',
  '360',
  'qq',
  'random',
  'randomized',
] as const;

/** In the order of the form. */
const DECLARED = {
  remark: { input: 'line', section: 'place', inLink: '#…', longest: 256 },
  hosts: { input: 'lines', section: 'place', inLink: '@…' },
  port: { input: 'number', section: 'place', inLink: ':…' },
  security: {
    input: 'choice',
    section: 'security',
    options: ['same', 'tls', 'none', 'reality'],
    inLink: 'security=',
  },
  sni: { input: 'line', section: 'security', inLink: 'sni=', isOfSecurity: true, longest: 255 },
  overrideSniFromAddress: { input: 'switch', section: 'security', inLink: 'sni=', isOfSecurity: true },
  keepSniBlank: { input: 'switch', section: 'security', isAdvanced: true, isOfSecurity: true },
  fingerprint: {
    input: 'choice',
    section: 'security',
    options: FINGERPRINTS,
    inLink: 'fp=',
    isOfSecurity: true,
  },
  alpn: {
    input: 'checks',
    section: 'security',
    options: ['h3', 'h2', 'http/1.1'],
    inLink: 'alpn=',
    isOfSecurity: true,
  },
  allowInsecure: {
    input: 'switch',
    section: 'security',
    isAdvanced: true,
    inLink: 'allowInsecure=1',
    isOfSecurity: true,
  },
  pinnedPeerCertSha256: {
    input: 'lines',
    section: 'security',
    isAdvanced: true,
    inLink: 'pcs=',
    isOfSecurity: true,
  },
  verifyPeerCertByName: {
    input: 'line',
    section: 'security',
    isAdvanced: true,
    inLink: 'vcn=',
    isOfSecurity: true,
    longest: 1024,
  },
  echConfigList: {
    input: 'line',
    section: 'security',
    isAdvanced: true,
    inLink: 'ech=',
    isOfSecurity: true,
    longest: 20_000,
  },
  cipherSuites: { input: 'line', section: 'security', isAdvanced: true, isOfSecurity: true, longest: 2000 },
  hostHeader: { input: 'line', section: 'transport', inLink: 'host=', longest: 255 },
  path: { input: 'line', section: 'transport', inLink: 'path=', longest: 1024 },
  isHidden: { input: 'switch', section: 'readers' },
  shuffleHost: { input: 'switch', section: 'readers' },
  excludeFromSubTypes: { input: 'checks', section: 'readers', options: ['raw', 'json', 'alt', 'sing-box'] },
  nodeGuids: { input: 'checks', section: 'readers', isAdvanced: true },
  tags: { input: 'lines', section: 'readers', isAdvanced: true },
  serverDescription: { input: 'line', section: 'documents', longest: 64 },
  vlessRoute: { input: 'line', section: 'documents', isAdvanced: true, longest: 5 },
  altIpVersion: {
    input: 'choice',
    section: 'documents',
    isAdvanced: true,
    options: ['', 'dual', 'ipv4', 'ipv6', 'ipv4-prefer', 'ipv6-prefer'],
  },
  altX25519: { input: 'switch', section: 'documents', isAdvanced: true },
  muxParams: { input: 'json', section: 'documents', isAdvanced: true },
  sockoptParams: { input: 'json', section: 'documents', isAdvanced: true },
  finalMask: { input: 'json', section: 'documents', isAdvanced: true, inLink: 'fm=' },
} as const satisfies Record<string, Declared>;

export type HostFieldName = keyof typeof DECLARED;
export interface HostField extends Declared {
  readonly name: HostFieldName;
}
export const HOST_FIELDS: readonly HostField[] = Object.entries(DECLARED).map(([name, declared]) => ({
  ...(declared as Declared),
  name: name as HostFieldName,
}));
export const SECTIONS = ['place', 'security', 'transport', 'readers', 'documents'] as const;

/** All as texts, so that nothing that was typed is lost: lists by line, `1` for what is on. */
export type TypedHost = Readonly<Record<HostFieldName, string>>;

/** In `hosts`, the address of the inbound itself: a line of its own, which nobody types by mistake. */
const OWN = '*';

export const NEW_HOST: TypedHost = {
  ...(Object.fromEntries(HOST_FIELDS.map(({ name }) => [name, ''])) as TypedHost),
  security: 'same',
};

export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

export const typedHost = (group: HostGroup): TypedHost =>
  Object.fromEntries(
    HOST_FIELDS.map(({ name, input }) => {
      const value = group[name];
      if (name === 'hosts') return [name, group.hosts.map((host) => host || OWN).join('\n')];
      if (Array.isArray(value)) return [name, value.join('\n')];
      if (input === 'switch') return [name, value === true ? '1' : ''];
      return [name, value === null || value === 0 ? '' : String(value)];
    }),
  ) as TypedHost;

/** undefined for a text that cannot be the value */
function parsedOf({ name, input }: HostField, text: string): unknown {
  switch (input) {
    case 'switch':
      return text === '1';
    case 'number': {
      const whole = wholeOf(text);
      return whole !== undefined && whole >= 0 && whole <= 65_535 ? whole : undefined;
    }
    case 'lines':
    case 'checks':
      return linesOf(text).map((line) => (name === 'hosts' && line === OWN ? '' : line));
    case 'json':
      if (text.trim() === '') return name === 'finalMask' ? '' : null;
      return jsonOf(text) ? text : undefined;
    default:
      return text.trim();
  }
}

export interface HostChanges {
  /** only fields whose text was changed */
  readonly body: Body;
  /** fields whose text is no value */
  readonly invalid: readonly HostFieldName[];
}

/** What to send: a field that nobody touched is not part of it, so it cannot be refused. */
export function hostChanges(before: TypedHost, after: TypedHost): HostChanges {
  const body: Record<string, unknown> = {};
  const invalid: HostFieldName[] = [];
  for (const field of HOST_FIELDS) {
    const { name } = field;
    if (before[name] === after[name]) continue;
    const value = parsedOf(field, after[name]);
    if (value === undefined) invalid.push(name);
    else body[name] = value;
  }
  return { body: body as Body, invalid };
}

/** What is shown of a form: without TLS, its fields say nothing. They keep their texts. */
export const shownFields = (typed: TypedHost): HostField[] =>
  HOST_FIELDS.filter(({ isOfSecurity }) => isOfSecurity === undefined || typed.security !== 'none');

/** The field of the form for a path in an error of the panel, such as `hosts.2` or `alpn[0]`. */
export const hostFieldOf = (path: string): HostFieldName | 'inboundIds' | undefined => {
  const [name = ''] = path.split(/[.[]/, 1);
  if (name === 'inboundIds') return name;
  return Object.hasOwn(DECLARED, name) ? (name as HostFieldName) : undefined;
};

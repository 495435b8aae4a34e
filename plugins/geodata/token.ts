// Names of geodata in the core's config, as infra/conf/router.go of the core reads them.
import type { Kind } from './items.js';

export interface GeoToken {
  readonly text: string;
  readonly file: string;
  /** in upper case */
  readonly code: string;
  /** in lower case; all of them must be on a domain */
  readonly attributes: readonly string[];
  /** undefined for `ext:`, which may stand for both */
  readonly kind: Kind | undefined;
}

const FILE_NAME = /^[\w-][\w.-]{0,127}$/;
const EXTERNAL = { 'ext:': undefined, 'ext-ip:': 'ip', 'ext-domain:': 'site' } as const;
export const LONGEST_TOKEN = 500;

/** Undefined for a value that names no geodata, such as an address; a text is the reason why it is malformed. */
export function tokenOf(text: string, kind?: Kind): GeoToken | string | undefined {
  if (text.length > LONGEST_TOKEN) return isGeo(text) ? 'it is too long' : undefined;
  if (text.startsWith('geoip:')) return named(text, 'geoip.dat', text.slice(6), 'ip');
  if (text.startsWith('geosite:')) return named(text, 'geosite.dat', text.slice(8), 'site');
  for (const [prefix, own] of Object.entries(EXTERNAL)) {
    if (!text.startsWith(prefix)) continue;
    const [file = '', code, ...rest] = text.slice(prefix.length).split(':');
    if (code === undefined || rest.length > 0) return `it must have the form ${prefix}FILE:CATEGORY`;
    if (!FILE_NAME.test(file)) return 'the name of its file must be plain, without a path';
    return named(text, file, code, own ?? kind);
  }
  return undefined;
}

const isGeo = (text: string): boolean => /^(?:geoip|geosite|ext|ext-ip|ext-domain):/.test(text);

function named(text: string, file: string, rest: string, kind: Kind | undefined): GeoToken | string {
  // A domain knows no negation and an address no attributes.
  const negated = kind !== 'site' && rest.startsWith('!') ? rest.slice(1) : rest;
  const [code = '', ...attributes] = kind === 'ip' ? [negated] : negated.split('@');
  if (code === '') return 'it names no category';
  return {
    text,
    file,
    code: code.toUpperCase(),
    attributes: attributes.map((attribute) => attribute.toLowerCase()),
    kind,
  };
}

/** Keys whose values are addresses or domains, in lower case: the core reads keys in any case. */
const KINDS: Readonly<Record<string, Kind>> = {
  ip: 'ip',
  ips: 'ip',
  source: 'ip',
  sourceip: 'ip',
  localip: 'ip',
  expectips: 'ip',
  expectedips: 'ip',
  unexpectedips: 'ip',
  domain: 'site',
  domains: 'site',
  domainsexcluded: 'site',
};
const DEEPEST = 20;

/** The values in a part of the config that name geodata, with the kind that their place asks for. Each once. */
export function geoValues(part: unknown): ReadonlyMap<string, Kind> {
  const found = new Map<string, Kind>();
  const add = (text: string, kind: Kind): void => {
    if (isGeo(text)) found.set(text, kind);
  };
  const visit = (value: unknown, kind: Kind | undefined, depth: number): void => {
    if (depth > DEEPEST) return;
    if (typeof value === 'string') {
      // The core takes a list as one text, too.
      if (kind) for (const one of value.includes(',') ? value.split(',') : [value]) add(one.trim(), kind);
    } else if (Array.isArray(value)) for (const inner of value) visit(inner, kind, depth + 1);
    else if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value)) {
        // dns.hosts has domains as its keys.
        add(key, 'site');
        visit(inner, KINDS[key.toLowerCase()], depth + 1);
      }
  };
  visit(part, undefined, 0);
  return found;
}

// Domains and addresses as rules and name servers of the core have them. Source: xtls.github.io, RuleObject and DnsObject.
import { isIP } from 'node:net';

/** Parts of JavaScript's patterns that RE2, the core's, does not have. */
const NOT_IN_RE2 = /\(\?<?[=!]|\\[1-9]/;
function patternProblem(pattern: string): string | undefined {
  if (NOT_IN_RE2.test(pattern))
    return `the core's patterns know no look-around and no references: ${pattern}`;
  // Groups that only RE2 writes so.
  const like = pattern
    .replaceAll('(?P<', '(?<')
    .replaceAll(/\(\?[imsU-]+(?=[:)])/g, '(?')
    .replaceAll('(?)', '');
  try {
    new RegExp(like);
    return undefined;
  } catch {
    return `it is not a valid pattern: ${pattern}`;
  }
}

/** What is wrong with a domain of a rule; undefined when nothing is. */
export function domainProblem(domain: string): string | undefined {
  const [, kind = '', rest = ''] = /^([a-z-]+):(.*)$/s.exec(domain) ?? [];
  if (domain.trim() === '') return 'it is empty';
  switch (kind) {
    case '':
      return undefined;
    case 'domain':
    case 'full':
    case 'keyword':
      return rest === '' ? `nothing follows ${kind}:` : undefined;
    case 'geosite':
      return /^[\w!.@:-]+$/.test(rest) ? undefined : 'geosite: needs the name of a list, such as geosite:cn';
    case 'ext':
    case 'ext-domain':
      return /^[^:]+:[^:]+$/.test(rest)
        ? undefined
        : `${kind}: needs a file and a list, such as ext:file.dat:cn`;
    case 'regexp':
      return rest === '' ? 'nothing follows regexp:' : patternProblem(rest);
    case 'dotless':
      return rest.includes('.') ? 'what follows dotless: has no dot' : patternProblem(rest);
    default:
      return `there is no ${kind}: here; there are domain:, full:, keyword:, regexp:, dotless:, geosite: and ext:`;
  }
}

/** What is wrong with an address, a network or a list of them in a rule. */
export function networkProblem(text: string): string | undefined {
  const [, kind = '', rest = ''] = /^(geoip|ext|ext-ip):!?(.*)$/s.exec(text) ?? [];
  if (kind === 'geoip')
    return /^[\w-]+$/.test(rest) ? undefined : 'geoip: needs the name of a list, such as geoip:cn';
  if (kind !== '')
    return /^[^:]+:[^:]+$/.test(rest)
      ? undefined
      : `${kind}: needs a file and a list, such as ext:file.dat:cn`;
  const [address = '', bits, more] = text.split('/');
  const family = isIP(address);
  const most = family === 6 ? 128 : 32;
  const fits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
  return family !== 0 && fits && more === undefined
    ? undefined
    : `it is no address, no network such as 10.0.0.0/8, and no list such as geoip:private: ${text}`;
}

/** What is wrong with a name server. */
export function serverProblem(text: string): string | undefined {
  const [, scheme] = /^([a-z0-9+.-]+):\/\//i.exec(text) ?? [];
  if (scheme !== undefined)
    return ['https', 'h2c', 'https+local', 'h2c+local', 'quic+local', 'tcp', 'tcp+local'].includes(
      scheme.toLowerCase(),
    ) && URL.canParse(text.replace(/^[^:]+/, 'http'))
      ? undefined
      : `it is not the URL of a name server: ${text}; use https://, https+local://, quic+local://, tcp:// or tcp+local://`;
  if (isIP(text) !== 0) return undefined;
  return /^[\w-]+(?:\.[\w-]+)*\.?$/.test(text) ? undefined : `it is no address, no name and no URL: ${text}`;
}

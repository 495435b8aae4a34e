// Whether a text is a share link: only as much of it as a client program needs to find the server.
import { domainToASCII } from 'node:url';
import { hostName } from '../../kernel/index.js';

/** Schemes with credentials before the `@`, and those that may have them elsewhere. */
const WITH_CREDENTIALS = new Set(['vless', 'trojan', 'tuic', 'anytls', 'wireguard', 'wg']);
const WITHOUT = new Set(['hysteria', 'hysteria2', 'hy2', 'socks', 'socks5']);
const KNOWN = ['vmess', 'ss', ...WITH_CREDENTIALS, ...WITHOUT];
const DEFAULT_PORT = '443';
/** A port; hysteria also has lists and ranges of them. */
const PORT = /^\d{1,5}$/;
const PORTS = /^\d{1,5}(?:-\d{1,5})?(?:,\d{1,5}(?:-\d{1,5})?)*$/;

const isPort = (text: string): boolean => PORT.test(text) && Number(text) > 0 && Number(text) <= 65_535;
const isHost = (text: string): boolean =>
  hostName(text) !== undefined || hostName(domainToASCII(text)) !== undefined;

/** Base64 in either alphabet, with or without padding; undefined for anything else. */
function decoded(text: string): string | undefined {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return undefined;
  const result = Buffer.from(text, 'base64').toString('utf8');
  return result.includes('\uFFFD') ? undefined : result;
}

function unescaped(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

interface Authority {
  readonly credentials: string;
  readonly host: string;
  readonly port: string;
}
const beforePath = (rest: string): string => rest.split(/[/?#]/, 1)[0] ?? '';

/** Splits `credentials@host:port`. */
function authorityOf(whole: string): Authority {
  const at = whole.lastIndexOf('@');
  const place = whole.slice(at + 1);
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(place) ?? [];
  return { credentials: whole.slice(0, Math.max(at, 0)), host, port: port || DEFAULT_PORT };
}

function placeProblem({ host, port }: Pick<Authority, 'host' | 'port'>): string | undefined {
  if (host === '') return 'it names no server';
  if (!isHost(host)) return 'its server is not a host name or an address';
  return isPort(port) ? undefined : 'its port is not a number from 1 to 65535';
}

function vmessProblem(rest: string): string | undefined {
  const [body = ''] = rest.split('#', 1);
  const text = decoded(body.trim());
  if (text === undefined) {
    const authority = authorityOf(beforePath(rest));
    return authority.credentials === '' ? 'what follows vmess:// is not base64' : placeProblem(authority);
  }
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch {
    return 'what follows vmess:// is not the base64 of JSON';
  }
  if (typeof config !== 'object' || config === null) return 'its JSON is not an object';
  const { add, port, id } = config as Readonly<Record<string, unknown>>;
  if (typeof id !== 'string' || id === '') return 'its JSON has no id';
  if (typeof add !== 'string') return 'its JSON has no server (add)';
  // `String` throws for some objects.
  if (typeof port === 'object' && port !== null) return 'its port is not a number from 1 to 65535';
  return placeProblem({ host: add.trim(), port: String(port ?? DEFAULT_PORT).trim() });
}

function shadowsocksProblem(rest: string): string | undefined {
  const whole = beforePath(rest);
  // The older form is base64 as a whole, which may contain slashes.
  const [older = ''] = rest.split(/[?#]/, 1);
  const plain = whole.includes('@') ? whole : decoded(older.replace(/\/$/, ''));
  if (plain === undefined) return 'what follows ss:// is not base64';
  const authority = authorityOf(plain);
  const { credentials } = authority;
  const named = decoded(credentials) ?? unescaped(credentials) ?? '';
  if (![credentials, named].some((text) => /^[^:]+:./s.test(text))) return 'it has no method and password';
  return placeProblem(authority);
}

/** The reason why this is not a share link; undefined when it is one. */
export function shareLinkProblem(link: string): string | undefined {
  // A second line would be a second link in a subscription.
  if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(link)) return 'it contains control characters';
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is.exec(link) ?? [];
  const name = scheme.toLowerCase();
  if (scheme === '') return 'it does not begin with a scheme such as vless://';
  if (name === 'vmess') return vmessProblem(rest);
  if (name === 'ss') return shadowsocksProblem(rest);
  if (!KNOWN.includes(name))
    return `the scheme ${scheme.slice(0, 20)} is unknown; use one of ${KNOWN.join(', ')}`;
  const authority = authorityOf(beforePath(rest));
  if (WITH_CREDENTIALS.has(name) && (unescaped(authority.credentials) ?? '') === '')
    return 'it has no credentials before the server';
  const isHysteria = name.startsWith('hy');
  if (isHysteria && PORTS.test(authority.port))
    return authority.port.split(/[,-]/).every(isPort)
      ? placeProblem({ ...authority, port: DEFAULT_PORT })
      : 'its ports are not numbers from 1 to 65535';
  return placeProblem(authority);
}

/** The reason why this is not the URL of a subscription. */
export function subscriptionUrlProblem(text: string): string | undefined {
  if (/[\p{Cc}\p{Cs}\s]/u.test(text)) return 'it contains blanks or control characters';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url &&
    /^https?:\/\/[^/?#]/i.test(text) &&
    ['http:', 'https:'].includes(url.protocol) &&
    url.hostname !== ''
    ? undefined
    : 'it is not an http or https URL with a host';
}

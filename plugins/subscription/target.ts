// What a URL below the path of a format asks for.

/** Characters that need no escape in a path; most ids have only these. */
const PLAIN_ID = /^[A-Za-z0-9._~@+-]+$/;
const STATUS = '/hwid-status';

export interface Target {
  readonly id: string;
  /** the places of devices instead of the subscription */
  readonly isDeviceStatus: boolean;
  /** undefined: none */
  readonly query: URLSearchParams | undefined;
}

/** `rest` stands after the prefix. Undefined for what cannot be an id; `elsewhere` for a path that another plugin may serve. */
export function targetOf(rest: string): Target | 'elsewhere' | undefined {
  if (PLAIN_ID.test(rest)) return { id: rest, isDeviceStatus: false, query: undefined };
  const at = rest.indexOf('?');
  const path = at < 0 ? rest : rest.slice(0, at);
  const query = at < 0 ? undefined : new URLSearchParams(rest.slice(at + 1));
  const isDeviceStatus = path.endsWith(STATUS);
  const escaped = isDeviceStatus ? path.slice(0, -STATUS.length) : path;
  if (escaped.includes('/')) return 'elsewhere';
  if (escaped === '') return undefined;
  const id = decoded(escaped);
  return id === undefined ? undefined : { id, isDeviceStatus, query };
}

/** Undefined for what cannot be decoded, in the same time as for what can: an error without its stack costs nothing. */
function decoded(escaped: string): string | undefined {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return decodeURIComponent(escaped);
  } catch {
    return undefined;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

const isOn = (value: string | null | undefined): boolean => value === '1' || value === 'true';
const wordIn = (query: URLSearchParams | undefined, name: string): string =>
  query?.get(name)?.toLowerCase() ?? '';

/** `?format=info`: the status as JSON, whatever a browser accepts. */
export const asksForStatus = (query: URLSearchParams | undefined): boolean =>
  wordIn(query, 'format') === 'info';
/** `?view=raw`: a download. */
export const asksForFile = (query: URLSearchParams | undefined): boolean => wordIn(query, 'view') === 'raw';
/** Names of formats in other programs. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  base64: 'links',
  clash: 'alt',
  mihomo: 'alt',
  raw: 'links',
  singbox: 'sing-box',
  sub: 'links',
  v2ray: 'json',
  xray: 'json',
};
export function formatIn(query: URLSearchParams | undefined): string | undefined {
  const name = wordIn(query, 'format');
  return name === '' ? undefined : (OTHER_NAMES[name] ?? name);
}

export const acceptsHtml = (accept: string | undefined): boolean =>
  accept !== undefined && /text\/html/i.test(accept);
/** An explicit format or a download is wanted as it is, also by a browser. */
export function asksForPage(query: URLSearchParams | undefined, accept: string | undefined): boolean {
  if (isOn(query?.get('html')) || wordIn(query, 'view') === 'html') return true;
  return formatIn(query) === undefined && !asksForFile(query) && acceptsHtml(accept);
}

/** Tags of Accept-Language, the best one first; without those of weight 0 and beyond the first ten. */
export function languagesOf(header: string | undefined): string[] {
  return (header ?? '')
    .slice(0, 500)
    .split(',')
    .flatMap((part) => {
      const [tag = '', ...parameters] = part.split(';').map((text) => text.trim());
      const weight = Number(parameters.find((text) => text.startsWith('q='))?.slice(2) ?? 1);
      return /^[A-Za-z]{1,8}(?:-[A-Za-z\d]{1,8})*$/.test(tag) && weight > 0 ? [{ tag, weight }] : [];
    })
    .toSorted((a, b) => b.weight - a.weight)
    .slice(0, 10)
    .map(({ tag }) => tag);
}
export function languageIn(query: URLSearchParams | undefined): string | undefined {
  const lang = query?.get('lang') ?? '';
  return /^[A-Za-z\d-]{1,35}$/.test(lang) ? lang : undefined;
}

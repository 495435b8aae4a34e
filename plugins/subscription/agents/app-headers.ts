// Headers that two client programs read beside those of all: app H (Happ) and app I (INCY). Values are checked when they
// are saved, so a fetch only adds the list.

/** By name of the header, as the setting holds them. */
export type AppHeaders = Readonly<Record<string, string>>;
/** The header's value for that of the setting; undefined where the value is not allowed. */
type Write = (value: string) => string | undefined;

export interface App {
  /** of its user agent */
  readonly pattern: string;
  readonly headers: ReadonlyMap<string, Write>;
}

/** Client programs decode other characters from base64. */
const line: Write = (value) =>
  /^[\x20-\x7e]*$/.test(value) ? value : `base64:${Buffer.from(value, 'utf8').toString('base64')}`;
const oneOf =
  (...allowed: readonly string[]): Write =>
  (value) =>
    allowed.includes(value) ? value : undefined;
const as =
  (words: Readonly<Record<string, string>>, otherwise: Write = () => undefined): Write =>
  (value) =>
    Object.hasOwn(words, value) ? words[value] : otherwise(value);
const fitting =
  (pattern: RegExp): Write =>
  (value) =>
    pattern.test(value) ? value : undefined;
/** A URL without a scheme is one of HTTPS. */
const url: Write = (value) => {
  const whole = value.includes('://') ? value : `https://${value}`;
  return /^[\x21-\x7e]+$/.test(whole) && URL.canParse(whole) ? whole : undefined;
};
const json: Write = (value) => {
  try {
    return line(JSON.stringify(JSON.parse(value)));
  } catch {
    return undefined;
  }
};
/** On, or left out: these headers have no value for off. */
const on = (value: string): Write => as({ true: value, 1: value, false: '', 0: '' });
const oneOrZero = as({ true: '1', 1: '1', false: '0', 0: '0' });
const trueOrFalse = as({ true: 'true', 1: 'true', false: 'false', 0: 'false' });
const color = fitting(/^#[\da-f]{3,8}$/i);
const range = fitting(/^\d{1,6}(?:-\d{1,6})?$/);

const named = (write: Write, ...names: readonly string[]): [string, Write][] =>
  names.map((name) => [name, write]);

export const APP_H: App = {
  pattern: String.raw`(?i)\bhapp\b`,
  headers: new Map([
    ...named(line, 'ProviderID', 'Sub-Info-Text', 'Sub-Info-Button-Text', 'Sub-Info-Button-Link'),
    ...named(line, 'Sub-Expire-Button-Link', 'Exclude-Routes', 'Socks-Auth-Mode', 'Http-Auth-Mode'),
    ...named(line, 'Per-App-Proxy-List'),
    ...named(url, 'New-Url', 'Fallback-Url'),
    ['Tun-Mode', oneOf('system', 'gvisor')],
    ['Tun-Type', oneOf('singbox', 'tun2proxy', 'default', 'xray')],
    ['Color-Profile', json],
    ...named(on('1'), 'Sub-Expire', 'Notification-Subs-Expire', 'No-Limit-Enabled'),
    ...named(on('1'), 'Subscription-Always-Hwid-Enable', 'Subscription-Autoconnect'),
    ...named(on('true'), 'Exclude-Apns-Enable'),
    [
      'Sub-Info-Color',
      as({ primary: 'blue', info: 'blue', success: 'green', warning: 'red', danger: 'red' }, line),
    ],
    ['Ping-Type', as({ http: 'proxy' }, oneOf('proxy', 'proxy-head', 'tcp', 'icmp'))],
    [
      'Subscription-Autoconnect-Type',
      as({ fastest: 'lowestdelay', last: 'lastused' }, oneOf('lowestdelay', 'lastused', 'random')),
    ],
    ['Per-App-Proxy-Mode', as({ include: 'on', exclude: 'bypass', off: '', on: 'on', bypass: 'bypass' })],
  ]),
};

export const APP_I: App = {
  pattern: String.raw`(?i)\bincy\b`,
  headers: new Map([
    ...named(line, 'Profile-Description', 'Support-Email', 'Announce-Url', 'Premium-Url', 'Banner-Text'),
    ...named(line, 'Banner-Button-Text', 'Banner-Button-Url', 'Per-App-Proxy-List', 'Noises-Packet'),
    ...named(line, 'Server-Address-Resolve-Dns-Domain', 'Server-Address-Resolve-Dns-Ip'),
    ...named(color, 'Banner-Bg-Color', 'Banner-Button-Color'),
    ...named(oneOrZero, 'No-Limit-Enabled', 'Hide-Url', 'Hide-Check'),
    ...named(trueOrFalse, 'Per-App-Proxy-Enable', 'Fragmentation-Enable', 'Noises-Enable'),
    ...named(trueOrFalse, 'Server-Address-Resolve-Enable'),
    ...named(range, 'Fragmentation-Length', 'Fragmentation-Interval', 'Noises-Delay'),
    ['Sort-Order', oneOf('none', 'ping', 'name')],
    ['Per-App-Proxy-Mode', oneOf('bypass', 'proxy')],
    ['Fragmentation-Packets', fitting(/^(?:tlshello|all|\d{1,6}(?:-\d{1,6})?)$/)],
    ['Noises-Type', oneOf('rand', 'str', 'hex')],
  ]),
};

/** Why these headers cannot be sent to the app; undefined when they can. */
export function appHeadersProblem({ headers }: App, values: AppHeaders): string | undefined {
  for (const [name, value] of Object.entries(values)) {
    const write = headers.get(name);
    if (!write) return `the app reads no header ${name}; it reads ${[...headers.keys()].join(', ')}`;
    if (value !== '' && write(value) === undefined)
      return `${name} cannot be ${JSON.stringify(value).slice(0, 100)}`;
  }
  return undefined;
}

/** Name, value, name, value …; without those that are blank or off. */
export function appHeaders({ headers }: App, values: AppHeaders): string[] {
  const list: string[] = [];
  for (const [name, write] of headers) {
    // Its colour and its button have no meaning without the text.
    if (name.startsWith('Sub-Info-') && !values['Sub-Info-Text']) continue;
    const value = values[name]?.trim() ?? '';
    const written = value === '' ? '' : (write(value) ?? '');
    if (written !== '') list.push(name, written);
  }
  return list;
}

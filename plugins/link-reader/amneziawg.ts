// The config file that the program AmneziaVPN imports, as one base64url text. Source: docs.amnezia.org.
import type { AccountValue } from '../inbounds/contract.js';
import { authorityIn, portIn } from './authority.js';
import type { ReadEntry, SchemeReader } from './contract.js';
import { LinkError } from './link-error.js';
import { hasControl, inBase64, itemsOf, numberIn } from './text.js';

const MOST_LINES = 200;
const UP_TO_16_BITS = [0, 65_535] as const;
const DEFAULT_PORT = 51_820;

/** By name in the file: the field, and whether it is a number or a flag. */
const DISGUISE: Readonly<Record<string, readonly [field: string, kind: 'number' | 'text' | 'flag']>> = {
  ...Object.fromEntries(
    ['Jc', 'Jmin', 'Jmax', 'S1', 'S2', 'S3', 'S4'].map((key) => [
      key,
      [key.toLowerCase(), 'number'] as const,
    ]),
  ),
  ...Object.fromEntries(
    ['H1', 'H2', 'H3', 'H4', 'I1', 'I2', 'I3', 'I4', 'I5'].map((key) => [
      key,
      [key.toLowerCase(), 'text'] as const,
    ]),
  ),
  HeaderProtectionKey: ['headerProtectionKey', 'text'],
  ContentPaddingAddition: ['contentPaddingAddition', 'text'],
  RekeyAfterTime: ['rekeyAfterTime', 'text'],
  RekeyTimeout: ['rekeyTimeout', 'text'],
  RejectAfterTime: ['rejectAfterTime', 'text'],
  KeepaliveTimeout: ['keepaliveTimeout', 'text'],
  MaxHandshakeAttempts: ['maxHandshakeAttempts', 'text'],
  RandomTrailers: ['randomTrailers', 'flag'],
  DisableCookies: ['disableCookies', 'flag'],
};

interface Config {
  /** `section.key` */
  readonly values: ReadonlyMap<string, string>;
  /** the comment above the server */
  readonly remark: string;
}

function configIn(text: string): Config {
  const values = new Map<string, string>();
  let section = '';
  let remark = '';
  const lines = text.split(/\r\n|\n/, MOST_LINES + 1);
  if (lines.length > MOST_LINES) throw new LinkError('link', `its config has more than ${MOST_LINES} lines`);
  for (const line of lines) {
    if (hasControl(line)) throw new LinkError('link', 'its config contains control characters');
    const [, name] = /^\[(\w+)\]$/.exec(line) ?? [];
    const equals = line.indexOf(' = ');
    if (name !== undefined) section = name;
    else if (line.startsWith('# ')) remark = line.slice(2);
    else if (equals > 0 && !values.has(`${section}.${line.slice(0, equals)}`))
      values.set(`${section}.${line.slice(0, equals)}`, line.slice(equals + 3).trim());
  }
  return { values, remark };
}

function disguiseIn(values: ReadonlyMap<string, string>): Record<string, AccountValue> {
  const fields: Record<string, AccountValue> = {};
  for (const [key, [field, kind]] of Object.entries(DISGUISE)) {
    const text = values.get(`Interface.${key}`);
    if (text === undefined || text === '') continue;
    if (kind === 'flag') fields[field] = text === 'on';
    else if (kind === 'text') fields[field] = text;
    else fields[field] = numberIn(text, key, UP_TO_16_BITS) ?? 0;
  }
  return fields;
}

export const amneziawg: SchemeReader = {
  schemes: ['vpn'],
  read({ body }): ReadEntry {
    const text = inBase64(body);
    if (text === undefined || !text.startsWith('[Interface]'))
      throw new LinkError('link', 'what follows vpn:// is not the base64 of a config file of AmneziaWG');
    const { values, remark } = configIn(text);
    const need = (key: string): string => {
      const value = values.get(key) ?? '';
      if (value === '') throw new LinkError(key, `its config has no ${key}`);
      return value;
    };
    const { server, portText } = authorityIn(need('Peer.Endpoint'));
    return {
      name: remark,
      server,
      port: portIn(portText, DEFAULT_PORT),
      account: {
        protocol: 'amneziawg',
        privateKey: need('Interface.PrivateKey'),
        publicKey: need('Peer.PublicKey'),
        address: itemsOf(need('Interface.Address')),
        preSharedKey: values.get('Peer.PresharedKey') ?? '',
        keepAlive:
          numberIn(values.get('Peer.PersistentKeepalive') ?? '', 'PersistentKeepalive', UP_TO_16_BITS) ?? 0,
        mtu: numberIn(values.get('Interface.MTU') ?? '', 'MTU', UP_TO_16_BITS) ?? 0,
        dns: values.get('Interface.DNS') ?? '',
        ...disguiseIn(values),
      },
      transport: { kind: 'own' },
      security: { kind: 'none' },
    };
  },
};

// The settings of the device: what stands in the server block, in the words of the control socket.
import type { DeviceState } from './device-state.js';
import { isOn, numberIn, type ServerBlock, textIn } from './server-block.js';

/** In the program a change of one of these sets all others to their defaults, so they are always sent together. */
const NUMBERS = ['jc', 'jmin', 'jmax', 's1', 's2', 's3', 's4'];
const TYPES = ['h1', 'h2', 'h3', 'h4'];
const PACKETS = ['i1', 'i2', 'i3', 'i4', 'i5'];
/** Fields of AmneziaWG 3, which older programs refuse. */
const LATER: readonly (readonly [field: string, key: string])[] = [
  ['contentPaddingAddition', 'content_padding_addition'],
  ['rekeyAfterTime', 'rekey_after_time'],
  ['rekeyTimeout', 'rekey_timeout'],
  ['rejectAfterTime', 'reject_after_time'],
  ['keepaliveTimeout', 'keepalive_timeout'],
  ['maxHandshakeAttempts', 'max_handshake_attempts'],
];
const FLAGS: readonly (readonly [field: string, key: string])[] = [
  ['randomTrailers', 'random_trailers'],
  ['disableCookies', 'disable_cookies'],
];
/** Up to here a type of message is the default of its place. */
const LAST_PLAIN_TYPE = 4;

export const hexOf = (key: string): string => Buffer.from(key, 'base64').toString('hex');
export const base64Of = (key: string): string => Buffer.from(key, 'hex').toString('base64');

/** One spelling: the program writes a range of one value as that value, and keeps the default of small ones. */
function typeOf(value: string): string {
  const [low = '', high = low] = value.split('-');
  if (value === '' || Number(low) <= LAST_PLAIN_TYPE) return '';
  return Number(low) === Number(high) ? String(Number(low)) : `${Number(low)}-${Number(high)}`;
}

/** Disguise that all versions know, with no defaults in it. */
function disguiseOf(server: ServerBlock): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of NUMBERS)
    if (numberIn(server, name) !== 0) found.set(name, String(numberIn(server, name)));
  // The program adds one where it would have nothing to choose from.
  if (found.has('jc') && numberIn(server, 'jmin') === numberIn(server, 'jmax'))
    found.set('jmax', String(numberIn(server, 'jmax') + 1));
  for (const name of TYPES) {
    const type = typeOf(textIn(server, name));
    if (type !== '') found.set(name, type);
  }
  for (const name of PACKETS) if (textIn(server, name) !== '') found.set(name, textIn(server, name));
  return found;
}

function laterOf(server: ServerBlock): Map<string, string> {
  const found = new Map<string, string>();
  const key = textIn(server, 'headerProtectionKey');
  if (key !== '') found.set('header_protection_key', hexOf(key));
  for (const [field, name] of LATER) if (textIn(server, field) !== '') found.set(name, textIn(server, field));
  for (const [field, name] of FLAGS) if (isOn(server, field)) found.set(name, 'true');
  return found;
}

/** Names of the fields that only AmneziaWG 3 has, as far as they are in use. */
export const laterFields = (server: ServerBlock): string[] => [
  ...['headerProtectionKey', ...LATER.map(([field]) => field)].filter((name) => textIn(server, name) !== ''),
  ...FLAGS.flatMap(([field]) => (isOn(server, field) ? [field] : [])),
];

const isSame = (one: ReadonlyMap<string, string>, state: DeviceState['settings']): boolean =>
  [...NUMBERS, ...TYPES, ...PACKETS].every((name) => one.get(name) === state.get(name));

/** A private key as the program keeps it (RFC 7748, section 5): another spelling of the same key would be set at each start of the panel. */
function clamped(key: string): string {
  const bytes = Buffer.from(key, 'hex');
  if (bytes.length !== 32) return key;
  bytes.writeUInt8(bytes.readUInt8(0) & 248, 0);
  bytes.writeUInt8((bytes.readUInt8(31) & 127) | 64, 31);
  return bytes.toString('hex');
}

/** Returns the lines that make the device what the inbound says; none where it is that already, because setting it again ends all sessions. */
export function settingsChange(server: ServerBlock, port: number, { settings }: DeviceState): string[] {
  const privateKey = hexOf(textIn(server, 'privateKey'));
  const [disguise, later] = [disguiseOf(server), laterOf(server)];
  // A program that does not report what it knows of these has them from its start.
  const lacks = [...later].some(([key, value]) => settings.has(key) && settings.get(key) !== value);
  const isNew = clamped(settings.get('private_key') ?? '') !== clamped(privateKey);
  const both = [...disguise, ...later].map(([key, value]) => `${key}=${value}`);
  return [
    // The disguise first: a refused line must leave a device that does nothing.
    ...(isNew || lacks || !isSame(disguise, settings) ? both : []),
    ...(isNew ? [`private_key=${privateKey}`] : []),
    ...(settings.get('listen_port') === String(port) ? [] : [`listen_port=${port}`]),
  ];
}

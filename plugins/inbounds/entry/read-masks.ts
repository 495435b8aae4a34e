// The masks of an inbound that a client's side must know. Source: xtls.github.io, FinalMaskObject.
import { objectOf, rangeOf, type Settings, textOf, textsOf } from '../stream/transport.js';
import type {
  FinalMask,
  FragmentMask,
  HeaderMask,
  KcpScramblingMask,
  LegacyKcpMask,
  SalamanderMask,
  SudokuMask,
} from './masks.js';

type Tcp = FragmentMask | SudokuMask;
type Udp = SalamanderMask | LegacyKcpMask | HeaderMask | KcpScramblingMask | SudokuMask;

const given = <T>(key: string, value: T | undefined): Record<string, T> =>
  value === undefined || value === '' ? {} : { [key]: value };
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

const sudoku = (settings: Settings): SudokuMask => {
  const tables = textsOf(settings['customTables']);
  return {
    kind: 'sudoku',
    ...given('password', textOf(settings['password'])),
    ...given('ascii', textOf(settings['ascii'])),
    ...given('customTables', tables.length > 0 ? tables : undefined),
    ...given('paddingMin', numberOf(settings['paddingMin'])),
    ...given('paddingMax', numberOf(settings['paddingMax'])),
  };
};

function tcpMask(mask: unknown): Tcp[] {
  const settings = objectOf(objectOf(mask)['settings']);
  switch (objectOf(mask)['type']) {
    case 'fragment': {
      const length = rangeOf(settings['length']);
      if (length === undefined) return [];
      return [
        {
          kind: 'fragment',
          packets: textOf(settings['packets']),
          length,
          ...given('delay', rangeOf(settings['delay'])),
          ...given('maxSplit', rangeOf(settings['maxSplit'])),
        },
      ];
    }
    case 'sudoku':
      return [sudoku(settings)];
    default:
      return [];
  }
}

function udpMask(mask: unknown): Udp[] {
  const settings = objectOf(objectOf(mask)['settings']);
  const type = textOf(objectOf(mask)['type']);
  switch (type) {
    case 'salamander': {
      const password = textOf(settings['password']);
      if (password === '') return [];
      return [{ kind: 'salamander', password, ...given('packetSize', textOf(settings['packetSize'])) }];
    }
    case 'mkcp-legacy':
      return [
        {
          kind: 'mkcp-legacy',
          header: textOf(settings['header']),
          ...given('value', textOf(settings['value'])),
        },
      ];
    case 'header-dns':
      return [{ kind: 'header-dns', ...given('domain', textOf(settings['domain'])) }];
    case 'header-dtls':
    case 'header-srtp':
    case 'header-utp':
    case 'header-wechat':
    case 'header-wireguard':
      return [{ kind: type }];
    case 'mkcp-original':
      return [{ kind: type }];
    case 'mkcp-aes128gcm':
      return [{ kind: type, ...given('password', textOf(settings['password'])) }];
    case 'sudoku':
      return [sudoku(settings)];
    default:
      return [];
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Undefined when there is none that is known here. */
export function finalMaskOf(value: unknown): FinalMask | undefined {
  const settings = objectOf(value);
  const tcp = listOf(settings['tcp']).flatMap(tcpMask);
  const udp = listOf(settings['udp']).flatMap(udpMask);
  const hop = objectOf(objectOf(settings['quicParams'])['udpHop']);
  const ports = textOf(hop['ports']).trim();
  if (tcp.length + udp.length === 0 && ports === '') return undefined;
  return {
    ...(tcp.length > 0 && { tcp }),
    ...(udp.length > 0 && { udp }),
    ...(ports !== '' && { udpHop: { ports, ...given('interval', rangeOf(hop['interval'])) } }),
  };
}

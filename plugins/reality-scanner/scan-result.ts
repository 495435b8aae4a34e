// What a scan says of one server.
import { bool, int, list, shape, type Static, text, word } from '../../kernel/index.js';

export const MOST_NAMES = 100;

export const ScanResult = shape({
  target: word().description(
    'host:port. For an address: the name in its certificate, with the port. For an entry that is not a target: the entry',
  ),
  host: text().description('the name that was asked for, the name in the certificate, or the address'),
  ip: text().description(
    'the address that was connected to; blank if there is no connection, or if a proxy made it',
  ),
  port: int().description('0 for an entry that is not a target'),
  privateTarget: bool().description(
    'the address is not public; without an entry in WEIR_OUTGOING_ALLOW it is not connected to',
  ),
  tlsVersion: text().description('such as 1.3; blank without a handshake'),
  tls13: bool(),
  alpn: text().description('h2, http/1.1, or blank'),
  h2: bool(),
  curveID: text().description('the key exchange: X25519, X25519MLKEM768, P-256, P-384, P-521, or blank'),
  x25519: bool().description('X25519 or X25519MLKEM768'),
  certSubject: text(),
  certIssuer: text(),
  notAfter: text().description('end of the certificate, ISO 8601'),
  serverNames: list(word()).description(
    `names in the certificate without wildcards, the first ${MOST_NAMES}`,
  ),
  certChainValid: bool().description('it is trusted and in time, whatever its names are'),
  certValid: bool().description('it is that, and for this name'),
  certChainBytes: int().description('size of all certificates that the server sends'),
  latencyMs: int().description(
    'until the handshake is over, with the look-up of the name; 0 without a handshake',
  ),
  feasible: bool().description('REALITY can use it: TLS 1.3, h2, X25519 and a valid certificate'),
  reason: text().description('why it is not feasible; blank if it is'),
});
export type ScanResult = Static<typeof ScanResult>;

/** A result before anything is known. */
export const unknownResult = (target: string, host: string, port: number, ip = ''): ScanResult => ({
  target,
  host,
  ip,
  port,
  privateTarget: false,
  tlsVersion: '',
  tls13: false,
  alpn: '',
  h2: false,
  curveID: '',
  x25519: false,
  certSubject: '',
  certIssuer: '',
  notAfter: '',
  serverNames: [],
  certChainValid: false,
  certValid: false,
  certChainBytes: 0,
  latencyMs: 0,
  feasible: false,
  reason: '',
});

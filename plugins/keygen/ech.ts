// A key of Encrypted Client Hello. Source: RFC 9849, section 4 (ECHConfig), in the form of the core's `tls ech`.
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { hostName } from '../../kernel/index.js';
import { newX25519 } from './contract.js';

const VERSION = 0xfe0d;
/** DHKEM(X25519, HKDF-SHA256), RFC 9180, section 7.1 */
const KEM = 0x0020;
/** HKDF with SHA-256, SHA-384 and SHA-512, each with AES-128-GCM, AES-256-GCM and ChaCha20-Poly1305; RFC 9180, section 7 */
const [KDFS, AEADS] = [
  [1, 2, 3],
  [1, 2, 3],
] as const;

const u8 = (value: number): Buffer => Buffer.from([value]);
const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);
const prefixed16 = (bytes: Buffer): Buffer => Buffer.concat([u16(bytes.length), bytes]);

function configOf(publicKey: Buffer, publicName: string): Buffer {
  const suites = KDFS.flatMap((kdf) => AEADS.flatMap((aead) => [u16(kdf), u16(aead)]));
  const name = Buffer.from(publicName, 'latin1');
  const contents = Buffer.concat([
    // The id of the config.
    u8(0),
    u16(KEM),
    prefixed16(publicKey),
    prefixed16(Buffer.concat(suites)),
    // Names may have any length.
    u8(0),
    u8(name.length),
    name,
    // No extensions.
    u16(0),
  ]);
  return Buffer.concat([u16(VERSION), prefixed16(contents)]);
}

/** A host name in ASCII; throws for anything else, also for an address, as RFC 9849 wants. */
export function publicName(given: string): string {
  const name = hostName(domainToASCII(given.trim()));
  if (name === undefined || isIP(name) !== 0)
    throw new Error('it must be a host name, such as www.example.com');
  return name;
}

/** For a `publicName`, which everybody sees. Both texts are standard base64. */
export function newEch(publicName: string): { echServerKeys: string; echConfigList: string } {
  const { privateKey, publicKey } = newX25519();
  const config = configOf(Buffer.from(publicKey, 'base64url'), publicName);
  const keys = Buffer.concat([prefixed16(Buffer.from(privateKey, 'base64url')), prefixed16(config)]);
  return {
    echServerKeys: keys.toString('base64'),
    echConfigList: prefixed16(config).toString('base64'),
  };
}

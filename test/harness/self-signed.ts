// Certificates and their keys for loopback, made on the spot: nothing secret lies in the tree and nothing runs out. RFC 5280, 4.1.
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const der = (tag: number, ...parts: readonly (Buffer | string)[]): Buffer => {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const length =
    content.length < 128
      ? [content.length]
      : content.length < 256
        ? [0x81, content.length]
        : content.length < 65_536
          ? [0x82, content.length >> 8, content.length & 255]
          : [0x83, content.length >> 16, (content.length >> 8) & 255, content.length & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
};
const [BOOLEAN, INTEGER, BITS, OCTETS, OID, UTF8, SEQUENCE, SET, UTC_TIME] = [
  0x01, 0x02, 0x03, 0x04, 0x06, 0x0c, 0x30, 0x31, 0x17,
];
const oid = (hex: string): Buffer => der(OID, Buffer.from(hex, 'hex'));
const ECDSA_SHA256 = der(SEQUENCE, oid('2a8648ce3d040302'));
const COMMON_NAME = '550403';
const ORGANISATION = '55040a';
const ALTERNATIVE_NAMES = '551d11';
const BASIC_CONSTRAINTS = '551d13';
const DAY_MS = 86_400_000;

const nameOf = ({ name, organisation }: Names): Buffer =>
  der(
    SEQUENCE,
    ...(organisation === undefined
      ? []
      : [der(SET, der(SEQUENCE, oid(ORGANISATION), der(UTF8, organisation)))]),
    der(SET, der(SEQUENCE, oid(COMMON_NAME), der(UTF8, name))),
  );
const timeOf = (ms: number): Buffer =>
  der(UTC_TIME, `${new Date(ms).toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)}Z`);
const extension = (id: string, ...value: readonly Buffer[]): Buffer =>
  der(SEQUENCE, oid(id), ...value.slice(0, -1), der(OCTETS, ...value.slice(-1)));

interface Names {
  readonly name: string;
  readonly organisation?: string | undefined;
}
export interface SelfSigned {
  readonly cert: string;
  readonly key: string;
}
export interface Issued extends SelfSigned, Names {
  readonly privateKey: KeyObject;
}
export interface CertificateOptions extends Names {
  /** host names, besides the address 127.0.0.1 */
  readonly hosts?: readonly string[];
  /** by default itself */
  readonly issuer?: Issued;
  readonly isAuthority?: boolean;
  /** days from now; by default one before and one after */
  readonly from?: number;
  readonly until?: number;
}

export function issue(options: CertificateOptions): Issued {
  const { name, organisation, hosts = [], issuer, isAuthority = false, from = -1, until = 1 } = options;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const names = hosts.map((host) => der(0x82, host));
  const signed = der(
    SEQUENCE,
    der(0xa0, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.from([1]), randomBytes(8)),
    ECDSA_SHA256,
    nameOf(issuer ?? options),
    der(SEQUENCE, timeOf(Date.now() + from * DAY_MS), timeOf(Date.now() + until * DAY_MS)),
    nameOf(options),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      der(
        SEQUENCE,
        extension(ALTERNATIVE_NAMES, der(SEQUENCE, ...names, der(0x87, Buffer.from([127, 0, 0, 1])))),
        ...(isAuthority
          ? [
              extension(
                BASIC_CONSTRAINTS,
                der(BOOLEAN, Buffer.from([255])),
                der(SEQUENCE, der(BOOLEAN, Buffer.from([255]))),
              ),
            ]
          : []),
      ),
    ),
  );
  const whole = der(
    SEQUENCE,
    signed,
    ECDSA_SHA256,
    der(BITS, Buffer.from([0]), sign('sha256', signed, issuer?.privateKey ?? privateKey)),
  );
  const lines = whole.toString('base64').replaceAll(/.{64}(?=.)/g, '$&\n');
  return {
    name,
    organisation,
    privateKey,
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
}

/** For localhost and 127.0.0.1; valid for two days around now. */
export function selfSigned(name = 'localhost'): SelfSigned {
  const { cert, key } = issue({ name, hosts: [name, 'localhost'] });
  return { cert, key };
}

/** Writes both into a folder, over what is there, and resolves with their paths. */
export async function writePair(
  folder: string,
  { cert, key }: SelfSigned,
): Promise<{ certFile: string; keyFile: string }> {
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  await Promise.all([writeFile(certFile, cert), writeFile(keyFile, key, { mode: 0o600 })]);
  return { certFile, keyFile };
}

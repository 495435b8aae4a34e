// A certificate and its key for loopback, made on the spot: nothing secret lies in the tree and nothing runs out. RFC 5280, 4.1.
import { generateKeyPairSync, sign } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const der = (tag: number, ...parts: readonly (Buffer | string)[]): Buffer => {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const length =
    content.length < 128
      ? [content.length]
      : content.length < 256
        ? [0x81, content.length]
        : [0x82, content.length >> 8, content.length & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
};
const [INTEGER, BITS, OCTETS, OID, UTF8, SEQUENCE, SET, UTC_TIME] = [
  0x02, 0x03, 0x04, 0x06, 0x0c, 0x30, 0x31, 0x17,
];
const oid = (hex: string): Buffer => der(OID, Buffer.from(hex, 'hex'));
const ECDSA_SHA256 = der(SEQUENCE, oid('2a8648ce3d040302'));
const COMMON_NAME = '550403';
const ALTERNATIVE_NAMES = '551d11';
const DAY_MS = 86_400_000;

const nameOf = (text: string): Buffer =>
  der(SEQUENCE, der(SET, der(SEQUENCE, oid(COMMON_NAME), der(UTF8, text))));
const timeOf = (ms: number): Buffer =>
  der(UTC_TIME, `${new Date(ms).toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)}Z`);

export interface SelfSigned {
  readonly cert: string;
  readonly key: string;
}

/** For localhost and 127.0.0.1; valid for two days around now. */
export function selfSigned(name = 'localhost'): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const names = der(
    SEQUENCE,
    der(0x82, name),
    der(0x82, 'localhost'),
    der(0x87, Buffer.from([127, 0, 0, 1])),
  );
  const signed = der(
    SEQUENCE,
    der(0xa0, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.from([1])),
    ECDSA_SHA256,
    nameOf(name),
    der(SEQUENCE, timeOf(Date.now() - DAY_MS), timeOf(Date.now() + DAY_MS)),
    nameOf(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(SEQUENCE, der(SEQUENCE, oid(ALTERNATIVE_NAMES), der(OCTETS, names)))),
  );
  const whole = der(
    SEQUENCE,
    signed,
    ECDSA_SHA256,
    der(BITS, Buffer.from([0]), sign('sha256', signed, privateKey)),
  );
  const lines = whole.toString('base64').replaceAll(/.{64}(?=.)/g, '$&\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
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

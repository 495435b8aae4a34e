// Makes the authority of a central panel and the certificate by which nodes know it. Keys are made asynchronously: WebCrypto
// does not block the event loop.
import { webcrypto, X509Certificate } from 'node:crypto';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;
const AUTHORITY_MS = 10 * YEAR_MS;
const CERTIFICATE_MS = YEAR_MS;
/** Clocks differ. */
const EARLIER_MS = DAY_MS;
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

/** Loaded when it is needed, which is once in months: it takes 18 MiB of memory. */
const library = () => import('@peculiar/x509');

export interface Pair {
  readonly cert: string;
  /** PKCS 8, PEM */
  readonly key: string;
}

const newKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']) as Promise<webcrypto.CryptoKeyPair>;
const certPem = (cert: { toString(format: 'pem'): string }): string => `${cert.toString('pem')}\n`;

async function keyPem(key: webcrypto.CryptoKey): Promise<string> {
  const { PemConverter } = await library();
  return `${PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY')}\n`;
}

/** `guid` of the panel: two centrals on one node are told apart. */
export async function makeAuthority(guid: string, now: number): Promise<Pair> {
  const x509 = await library();
  const keys = await newKeys();
  const name = `CN=Weir nodes of ${guid}`;
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    name,
    keys,
    signingAlgorithm: ALGORITHM,
    notBefore: new Date(now - EARLIER_MS),
    notAfter: new Date(now + AUTHORITY_MS),
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { cert: certPem(cert), key: await keyPem(keys.privateKey) };
}

export async function makeClientCertificate(authority: Pair, guid: string, now: number): Promise<Pair> {
  const x509 = await library();
  const issuer = new x509.X509Certificate(authority.cert);
  const signingKey = await webcrypto.subtle.importKey(
    'pkcs8',
    x509.PemConverter.decodeFirst(authority.key),
    ALGORITHM,
    false,
    ['sign'],
  );
  const keys = await newKeys();
  const cert = await x509.X509CertificateGenerator.create({
    subject: `CN=${guid}`,
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm: ALGORITHM,
    notBefore: new Date(now - EARLIER_MS),
    notAfter: new Date(Math.min(now + CERTIFICATE_MS, issuer.notAfter.getTime())),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([CLIENT_AUTH]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
    ],
  });
  return { cert: certPem(cert), key: await keyPem(keys.privateKey) };
}

/** Whether the certificate is in the last third of its life, or is not valid. */
export function isDueForRenewal(cert: string, now: number): boolean {
  const { validFrom, validTo } = new X509Certificate(cert);
  const [from, until] = [Date.parse(validFrom), Date.parse(validTo)];
  return now > until - (until - from) / 3 || now < from;
}

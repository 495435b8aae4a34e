// A certificate and its key in two files, read so that neither a device nor half a file is ever served.
import { X509Certificate } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Pem {
  readonly cert: string;
  readonly key: string;
}

/** Larger files hold no certificate and its chain. Reading 1 MiB of certificates would block everything else for seconds. */
const MOST_BYTES = 64 * 1024;
/** Each costs time in which nothing else happens. */
const MOST_BLOCKS = 32;
/** A program that writes a file is given as long to finish. */
const SETTLE_MS = 100;
const ANY_BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g;
/** The first characters of a block whose rest is not there yet; OpenSSL takes them as the end of the chain. */
const BEGUN = /^-{1,5}[A-Z ]*$/;
const BLOCK =
  /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[\s\S]*?-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** Why a pair cannot be served. */
export class PairProblem extends Error {
  override readonly name = 'PairProblem';
  /** the file that is the reason */
  readonly part: 'certificate' | 'key';

  constructor(part: 'certificate' | 'key', message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.part = part;
  }
}

/** Devices and pipes have no end. */
async function textOf(part: PairProblem['part'], path: string): Promise<string> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = await file.stat();
      if (!found.isFile()) throw new Error('it is no file');
      if (found.size > MOST_BYTES) throw new Error(`it is larger than ${MOST_BYTES / 1024} KiB`);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(found.size), 0, found.size, 0);
      // An empty file, as one that is being replaced is for a moment, raises no error later, but fails every handshake.
      if (bytesRead === 0) throw new Error('it is empty');
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw new PairProblem(part, `${path} cannot be read: ${(cause as Error).message}`, cause);
  }
}

/** Throws when a certificate of the chain is cut off or not valid: OpenSSL would serve those before it. */
function requireWhole(path: string, chain: string): void {
  const blocks = chain.match(BLOCK) ?? [];
  const rest = chain.replaceAll(ANY_BLOCK, '').trimEnd();
  if (
    rest.includes('-----BEGIN') ||
    BEGUN.test(rest.slice(rest.lastIndexOf('\n') + 1)) ||
    blocks.some((block) => block.indexOf('-----BEGIN', 1) !== -1)
  )
    throw new PairProblem('certificate', `${path} is not a valid PEM certificate: it is cut off`);
  for (const block of blocks)
    try {
      new X509Certificate(block);
    } catch (cause) {
      throw new PairProblem(
        'certificate',
        `${path} is not a valid PEM certificate: ${(cause as Error).message}`,
        cause,
      );
    }
}

async function textsOf(certFile: string, keyFile: string): Promise<Pem> {
  const cert = await textOf('certificate', certFile);
  return { cert, key: await textOf('key', keyFile) };
}

/** Reads both files and checks that they belong together. Rejects with a PairProblem. */
export async function readPair(certFile: string, keyFile: string): Promise<Pem> {
  const pem = await textsOf(certFile, keyFile);
  requirePair(pem, certFile, keyFile);
  return pem;
}

function requirePair({ cert, key }: Pem, certFile: string, keyFile: string): void {
  const count = cert.split('-----BEGIN ').length - 1;
  if (count > MOST_BLOCKS)
    throw new PairProblem(
      'certificate',
      `${certFile} holds ${count} certificates; at most ${MOST_BLOCKS} belong to one`,
    );
  try {
    createSecureContext({ cert });
  } catch (cause) {
    const problem = `${certFile} is not a valid PEM certificate: ${(cause as Error).message}`;
    throw new PairProblem('certificate', problem, cause);
  }
  requireWhole(certFile, cert);
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    throw new PairProblem(
      'key',
      `${keyFile} is not a PEM private key that matches the certificate in ${certFile}: ${(cause as Error).message}`,
      cause,
    );
  }
}

export const endOf = (cert: string): number => Date.parse(new X509Certificate(cert).validTo);

/**
 * Reads the files again. Resolves with undefined while they are those that are served, or are being written. Rejects with
 * a PairProblem for a pair that must not take the place of `served`.
 */
export async function readPairAgain(
  served: Pem,
  certFile: string,
  keyFile: string,
): Promise<Pem | undefined> {
  const same = (a: Pem, b: Pem): boolean => a.cert === b.cert && a.key === b.key;
  const pem = await textsOf(certFile, keyFile);
  if (same(pem, served)) return undefined;
  requirePair(pem, certFile, keyFile);
  await sleep(SETTLE_MS);
  if (!same(pem, await textsOf(certFile, keyFile))) return undefined;
  const end = endOf(pem.cert);
  // Without a certificate, an expired one is better than none; and a later end is better than an earlier one.
  if (served.cert !== '' && end < Date.now() && end < endOf(served.cert))
    throw new PairProblem(
      'certificate',
      `${certFile} expired on ${new Date(end).toISOString().slice(0, 10)}`,
    );
  return pem;
}

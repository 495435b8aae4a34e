// SHA-256 of certificates, by which clients pin a server.
import { createHash, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { hostName, messageOf } from '../../kernel/index.js';
import type { CoreGuardApi } from '../core-guard/contract.js';
import { CalledHosts, type OutgoingAccess, type OutgoingApi, OutgoingError } from '../outgoing/contract.js';
import { errors } from './errors.js';

/** Longer chains do not occur. */
const MOST_CERTIFICATES = 100;
const PEM = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

const hashOf = (der: Buffer): string => createHash('sha256').update(der).digest('hex');

/** Of each certificate in a text, PEM or the base64 of DER, in their order. Throws with the field that held the text. */
export function certificateHashes(text: string, path: string): string[] {
  const blocks: (string | Buffer)[] = text.match(PEM) ?? [];
  if (blocks.length === 0 && /^[\s\w+/=-]+$/.test(text) && !text.includes('--'))
    blocks.push(Buffer.from(text, 'base64'));
  if (blocks.length === 0)
    throw errors.CERTIFICATE(`${path} holds no certificate; it must have -----BEGIN CERTIFICATE-----`, {
      path,
    });
  if (blocks.length > MOST_CERTIFICATES)
    throw errors.CERTIFICATE(`${path} holds more than ${MOST_CERTIFICATES} certificates`, { path });
  return blocks.map((block, i) => {
    try {
      return hashOf(new X509Certificate(block).raw);
    } catch (cause) {
      const which = blocks.length > 1 ? `certificate ${i + 1} in ${path}` : `the certificate in ${path}`;
      throw errors.CERTIFICATE(`${which} cannot be read: ${messageOf(cause)}`, { path, cause });
    }
  });
}

/** `host` or `host:port`, IPv6 with or without brackets; undefined for anything else. */
function serverOf(text: string): string | undefined {
  const url = `https://${isIP(text) === 6 ? `[${text}]` : text}/`;
  if (/[/?#@\\\s]/.test(text) || !URL.canParse(url)) return undefined;
  const { hostname, host, port } = new URL(url);
  return hostName(hostname) === undefined || port === '0' ? undefined : host;
}

export class Certificates {
  readonly #guard: CoreGuardApi;
  readonly #outgoing: OutgoingApi | undefined;
  readonly #servers = new CalledHosts();
  readonly access: OutgoingAccess = {
    hosts: this.#servers.list,
    limits: { connectMs: 10_000, wholeMs: 15_000 },
  };

  constructor({ guard, outgoing }: { guard: CoreGuardApi; outgoing: OutgoingApi | undefined }) {
    this.#guard = guard;
    this.#outgoing = outgoing;
  }

  /** Of a file that inbounds may name. */
  async inFile(file: string): Promise<string[]> {
    const text = await this.#guard.readCertificate(file).catch((cause: unknown) => {
      throw errors.CERTIFICATE(`certFile: ${messageOf(cause)}`, { path: 'certFile', cause });
    });
    return certificateHashes(text, 'certFile');
  }

  /** The one that a server shows, whether it is valid or not. */
  async ofServer(given: string): Promise<string> {
    const server = serverOf(given);
    if (server === undefined)
      throw errors.SERVER('server must be a host name or an address, with a port if it is not 443', {
        path: 'server',
      });
    const outgoing = this.#outgoing;
    if (!outgoing) throw errors.SERVER('the plugin outgoing, which calls other machines, is off; enable it');
    try {
      const socket = await this.#servers.during(server, () =>
        outgoing.handshake(this.access, server, { ALPNProtocols: ['h2', 'http/1.1'] }),
      );
      const certificate = socket.getPeerX509Certificate();
      socket.destroy();
      if (!certificate) throw errors.SERVER(`server: ${server} shows no certificate`, { path: 'server' });
      return hashOf(certificate.raw);
    } catch (cause) {
      if (!(cause instanceof OutgoingError)) throw cause;
      throw errors.SERVER(`server: ${cause.message}`, { path: 'server', cause });
    }
  }
}

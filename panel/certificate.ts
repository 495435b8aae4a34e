// The certificate of a listener: read at the start, and reread while connections stay open.
import type { TlsOptions } from 'node:tls';
import type { Certificate } from '../net/certificate.js';
import { endOf, type Pem, readPair, readPairAgain } from '../plugins/certificates/contract.js';

export class CertificateFiles implements Certificate {
  readonly #certFile: string;
  readonly #keyFile: string;
  #pem: Pem;
  #asks: Pick<TlsOptions, 'ca' | 'requestCert' | 'rejectUnauthorized'> = {};

  private constructor(certFile: string, keyFile: string, pem: Pem) {
    this.#certFile = certFile;
    this.#keyFile = keyFile;
    this.#pem = pem;
  }

  /** Rejects with a sentence that names the file. */
  static async read(this: void, certFile: string, keyFile: string): Promise<CertificateFiles> {
    return new CertificateFiles(certFile, keyFile, await readPair(certFile, keyFile));
  }

  get pem(): Certificate['pem'] {
    return { ...this.#pem, ...this.#asks };
  }
  /** Asks callers for a certificate of these authorities (PEM); the request tells who has one. An empty text: asks nobody. */
  askFor(authorities: string): void {
    // Without `ca`, Node would trust all public authorities.
    this.#asks =
      authorities === ''
        ? { requestCert: false, rejectUnauthorized: true, ca: undefined }
        : { requestCert: true, rejectUnauthorized: false, ca: authorities };
  }
  get validTo(): string {
    return new Date(endOf(this.#pem.cert)).toISOString();
  }

  async readAgain(): Promise<boolean> {
    const pem = await readPairAgain(this.#pem, this.#certFile, this.#keyFile);
    if (pem) this.#pem = pem;
    return pem !== undefined;
  }
}

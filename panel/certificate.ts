// The certificate of a listener: read at the start, and reread while connections stay open.
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { messageOf } from '../kernel/errors/errors.js';
import type { Certificate } from '../net/certificate.js';

export class CertificateFiles implements Certificate {
  readonly #certFile: string;
  readonly #keyFile: string;
  #pem: Certificate['pem'] = { cert: '', key: '' };

  private constructor(certFile: string, keyFile: string) {
    this.#certFile = certFile;
    this.#keyFile = keyFile;
  }

  static async read(this: void, certFile: string, keyFile: string): Promise<CertificateFiles> {
    const certificate = new CertificateFiles(certFile, keyFile);
    await certificate.readAgain();
    return certificate;
  }

  get pem(): Certificate['pem'] {
    return this.#pem;
  }
  get validTo(): string {
    return new Date(new X509Certificate(this.#pem.cert).validTo).toISOString();
  }

  async readAgain(): Promise<boolean> {
    const [cert, key] = await Promise.all([this.#read(this.#certFile), this.#read(this.#keyFile)]);
    if (cert === this.#pem.cert && key === this.#pem.key) return false;
    try {
      createSecureContext({ cert });
    } catch (cause) {
      throw new Error(`${this.#certFile} is not a valid PEM certificate: ${messageOf(cause)}`, { cause });
    }
    try {
      createSecureContext({ cert, key });
    } catch (cause) {
      throw new Error(
        `${this.#keyFile} is not a PEM private key that matches the certificate in ${this.#certFile}: ${messageOf(cause)}`,
        { cause },
      );
    }
    this.#pem = { cert, key };
    return true;
  }

  #read(file: string): Promise<string> {
    return readFile(file, 'utf8').catch((cause: unknown) => {
      throw new Error(`${file} cannot be read: ${messageOf(cause)}`, { cause });
    });
  }
}

// The certificate of a listener: read at the start, and again while connections go on.
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { messageOf } from '../errors/errors.js';

export interface Pem {
  readonly cert: string;
  readonly key: string;
}

export class Certificate {
  readonly #certFile: string;
  readonly #keyFile: string;
  #pem: Pem = { cert: '', key: '' };

  private constructor(certFile: string, keyFile: string) {
    this.#certFile = certFile;
    this.#keyFile = keyFile;
  }

  /** Rejects with a sentence that names the file at fault. */
  static async read(certFile: string, keyFile: string): Promise<Certificate> {
    const certificate = new Certificate(certFile, keyFile);
    await certificate.readAgain();
    return certificate;
  }

  get pem(): Pem {
    return this.#pem;
  }
  get validTo(): string {
    return new Date(new X509Certificate(this.#pem.cert).validTo).toISOString();
  }

  /** True when the files hold something new. What cannot be used changes nothing and rejects. */
  async readAgain(): Promise<boolean> {
    const [cert, key] = await Promise.all([this.#read(this.#certFile), this.#read(this.#keyFile)]);
    if (cert === this.#pem.cert && key === this.#pem.key) return false;
    try {
      createSecureContext({ cert });
    } catch (cause) {
      throw new Error(`${this.#certFile} holds no certificate in PEM: ${messageOf(cause)}`, { cause });
    }
    try {
      createSecureContext({ cert, key });
    } catch (cause) {
      throw new Error(`${this.#keyFile} holds no key in PEM that fits the certificate in ${this.#certFile}: ${messageOf(cause)}`, { cause });
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

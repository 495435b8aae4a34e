// The certificate of the listener: two files that settings name, read again when they change.
import { X509Certificate } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import {
  type ListenerApi,
  type ListenerPlace,
  type LiveSettings,
  type Log,
  messageOf,
} from '../../kernel/index.js';
import { errors } from './errors.js';
import type { subscriptionSettings } from './settings.js';

type Certificate = NonNullable<ListenerPlace['certificate']>;
/** Larger files hold no certificate. */
const MOST_BYTES = 1024 * 1024;

/** Devices and pipes have no end. */
async function textOf(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new Error('it is no file');
    if (found.size > MOST_BYTES) throw new Error(`it is larger than ${MOST_BYTES / 1024} KiB`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(found.size), 0, found.size, 0);
    // A blank file, as one that is being replaced is for a moment, raises no error later, but fails every handshake.
    if (bytesRead === 0) throw new Error('it is empty');
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

const contentOf = (setting: string, path: string): Promise<string> =>
  textOf(path).catch((cause: unknown) => {
    const problem = `${setting}: ${path} cannot be read: ${messageOf(cause)}`;
    throw errors.CERTIFICATE(problem, { path: setting, cause });
  });

/** Throws with the setting whose file is unusable. */
async function readPair(certFile: string, keyFile: string): Promise<Certificate['pem']> {
  const cert = await contentOf('subCertFile', certFile);
  const key = await contentOf('subKeyFile', keyFile);
  try {
    createSecureContext({ cert });
  } catch (cause) {
    const problem = `subCertFile: ${certFile} is not a PEM certificate: ${messageOf(cause)}`;
    throw errors.CERTIFICATE(problem, { path: 'subCertFile', cause });
  }
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    const problem = `subKeyFile: ${keyFile} is not the PEM key of the certificate in ${certFile}: ${messageOf(cause)}`;
    throw errors.CERTIFICATE(problem, { path: 'subKeyFile', cause });
  }
  return { cert, key };
}

export class OwnCertificate implements Certificate {
  readonly #settings: LiveSettings<typeof subscriptionSettings>;
  readonly #log: Log;
  /** Blank until the files can be read: then every handshake fails, and nothing is served without encryption. */
  pem: Certificate['pem'] = { cert: '', key: '' };
  /** The listener serves HTTPS, from its start to its end. */
  isOn = false;
  #listener: ListenerApi | undefined;
  #problem = '';

  constructor({ settings, log }: { settings: LiveSettings<typeof subscriptionSettings>; log: Log }) {
    this.#settings = settings;
    this.#log = log;
  }

  /** Decides whether the listener serves HTTPS; with unreadable files it does, and logs them. */
  async start(): Promise<void> {
    const { subCertFile, subKeyFile } = this.#settings.read();
    this.isOn = subCertFile !== '' && subKeyFile !== '';
    await this.follow();
  }
  use(listener: ListenerApi): void {
    this.#listener = listener;
  }

  get validTo(): string {
    return this.pem.cert === '' ? '' : new Date(new X509Certificate(this.pem.cert).validTo).toISOString();
  }

  async readAgain(): Promise<boolean> {
    const { subCertFile, subKeyFile } = this.#settings.read();
    // Both blank: from the next start on without encryption, and until then with what there is.
    if (subCertFile === '' || subKeyFile === '') return false;
    const pem = await readPair(subCertFile, subKeyFile);
    if (pem.cert === this.pem.cert && pem.key === this.pem.key) return false;
    this.pem = pem;
    return true;
  }

  /** Reads the files again. Unusable ones change nothing, and each problem is logged once. */
  async follow(): Promise<void> {
    if (!this.isOn) return;
    try {
      const isNew = await this.readAgain();
      this.#problem = '';
      if (!isNew || !this.#listener) return;
      this.#listener.renew();
      this.#log.info('the certificate of subscriptions was read again', { validTo: this.validTo });
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== this.#problem)
        this.#log.error(
          this.pem.cert === ''
            ? 'the certificate of subscriptions is unusable, so no fetch is answered until its files are'
            : 'the new certificate of subscriptions is unusable; the previous one stays',
          { problem },
        );
      this.#problem = problem;
    }
  }
}

/** Refuses files that are no pair, before they are saved. */
export async function refuseBadPair(
  changes: Readonly<Record<string, unknown>>,
  values: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (!('subCertFile' in changes) && !('subKeyFile' in changes)) return;
  const [certFile, keyFile] = [String(values['subCertFile'] ?? ''), String(values['subKeyFile'] ?? '')];
  if (certFile === '' && keyFile === '') return;
  if (certFile === '' || keyFile === '') {
    const path = certFile === '' ? 'subCertFile' : 'subKeyFile';
    throw errors.CERTIFICATE(`${path} is missing: a certificate and its key belong together`, { path });
  }
  await readPair(certFile, keyFile);
}

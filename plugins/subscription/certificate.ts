// The certificate of the listener: two files that settings name, read again when they change.
import { X509Certificate } from 'node:crypto';
import {
  type ListenerApi,
  type ListenerPlace,
  type LiveSettings,
  type Log,
  messageOf,
} from '../../kernel/index.js';
import { readPair, readPairAgain, withSetting } from '../certificates/contract.js';
import { errors } from './errors.js';
import type { subscriptionSettings } from './settings.js';

type Certificate = NonNullable<ListenerPlace['certificate']>;
/** Settings that name the files. */
export const CERTIFICATE_SETTINGS = { certificate: 'subCertFile', key: 'subKeyFile' } as const;

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
    const pem = await withSetting(
      CERTIFICATE_SETTINGS,
      errors.CERTIFICATE,
      this.pem.cert === ''
        ? readPair(subCertFile, subKeyFile)
        : readPairAgain(this.pem, subCertFile, subKeyFile),
    );
    if (pem) this.pem = pem;
    return pem !== undefined;
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

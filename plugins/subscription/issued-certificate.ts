// The subscription server as a user of certificates that an authority issues: its settings name their files.
import type { Database, LiveSettings, Principal } from '../../kernel/index.js';
import type { CertificatePaths, CertificateUser } from '../certificates/contract.js';
import type { SettingsApi } from '../settings/contract.js';
import type { OwnCertificate } from './certificate.js';
import { subscriptionSettings } from './settings.js';

export class IssuedCertificate implements CertificateUser {
  readonly name = 'subscription';
  readonly #db: Database;
  readonly #allSettings: SettingsApi;
  readonly #settings: LiveSettings<typeof subscriptionSettings>;
  readonly #certificate: OwnCertificate;

  constructor(needs: {
    db: Database;
    allSettings: SettingsApi;
    settings: LiveSettings<typeof subscriptionSettings>;
    certificate: OwnCertificate;
  }) {
    this.#db = needs.db;
    this.#allSettings = needs.allSettings;
    this.#settings = needs.settings;
    this.#certificate = needs.certificate;
  }

  readonly files = (): CertificatePaths => {
    const { subCertFile, subKeyFile } = this.#settings.read();
    return { certificate: subCertFile, key: subKeyFile };
  };

  readonly use = async ({ certificate, key }: CertificatePaths, who: Principal): Promise<string> => {
    await this.#db.write((tx) =>
      this.#allSettings.change(tx, subscriptionSettings, { subCertFile: certificate, subKeyFile: key }, who),
    );
    return this.#certificate.isOn ? '' : 'it serves HTTPS from its next start on';
  };

  readonly renewed = (): Promise<void> => this.#certificate.follow();
}

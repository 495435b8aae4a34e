// The certificate of the panel as an admin's own files, which settings name. The panel needs its certificate before it can
// read settings, so `certificates/panel` leads to them.
import { type Log, messageOf } from '../../kernel/index.js';
import type { PanelListenerApi, SettingsApi } from '../settings/contract.js';
import type { CertificateFolders } from './certificate-files.js';
import type { CertificateStore } from './certificate-store.js';
import { errors } from './errors.js';
import { readPair } from './pair-files.js';
import { refuseBadPair } from './pair-settings.js';
import { panelFileSettings } from './settings.js';

const NAMES = { certificate: 'webCertFile', key: 'webKeyFile' } as const;

export class PanelFiles {
  readonly #folders: CertificateFolders;
  readonly #store: CertificateStore;
  readonly #settings: SettingsApi;
  readonly #listener: PanelListenerApi | undefined;
  readonly #log: Log;

  constructor({
    folders,
    store,
    allSettings,
    listener,
    log,
  }: {
    folders: CertificateFolders;
    store: CertificateStore;
    allSettings: SettingsApi;
    listener: PanelListenerApi | undefined;
    log: Log;
  }) {
    this.#folders = folders;
    this.#store = store;
    this.#settings = allSettings;
    this.#listener = listener;
    this.#log = log;
  }

  /** Refuses files that the panel could not serve, and those beside another certificate of the panel. */
  async check(save: Record<'changes' | 'values', Readonly<Record<string, unknown>>>): Promise<void> {
    await refuseBadPair(NAMES, save, errors.FILES);
    const path = Object.values(NAMES).find((name) => Boolean(save.changes[name]));
    if (path === undefined) return;
    if (this.#listener?.certificateSource === 'file')
      throw errors.FILES(
        `${path}: tlsCert in the config file names the certificate of the panel; remove it and tlsKey first`,
        { path },
      );
    const other = this.#store.list().find(({ uses }) => uses.panel);
    if (other)
      throw errors.TAKEN(
        `${path}: the panel uses certificate ${other.id} (${other.names[0]}); end that use first`,
        { path },
      );
  }

  /** Makes the panel serve what the settings name: at once when it serves HTTPS already, else from its next start on. Never rejects. */
  async apply(): Promise<void> {
    const { webCertFile, webKeyFile } = this.#settings.read(panelFileSettings);
    if (this.#listener?.certificateSource !== 'default') return;
    try {
      const current = await this.#folders.panelFiles();
      if (current?.certificate === webCertFile && current.key === webKeyFile) return;
      if (webCertFile === '') return current && (await this.#folders.leavePanel());
      // A database may come from another machine.
      await readPair(webCertFile, webKeyFile);
      await this.#folders.usePanelFiles({ certificate: webCertFile, key: webKeyFile });
      await this.#listener?.readCertificate();
    } catch (error) {
      this.#log.error('the panel does not use webCertFile and webKeyFile; it stays as it was', {
        problem: messageOf(error),
      });
    }
  }
}

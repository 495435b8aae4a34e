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
const OWN_WAY = 'name the files themselves, or order a certificate with uses.panel';

export class PanelFiles {
  readonly #folders: CertificateFolders;
  readonly #store: CertificateStore;
  readonly #settings: SettingsApi;
  readonly #listener: PanelListenerApi | undefined;
  readonly #log: Log;
  #last: Promise<void> = Promise.resolve();

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
    const sent = Object.values(NAMES).filter((name) => name in save.changes);
    const [first] = sent;
    if (first !== undefined && this.#listener?.certificateSource === 'file')
      throw errors.FILES(
        `${first}: tlsCert in the config file names the certificate of the panel; remove it and tlsKey first`,
        { path: first },
      );
    const named = sent.filter((name) => save.changes[name] !== '');
    for (const path of named)
      if (await this.#folders.holds(String(save.changes[path])))
        throw errors.FILES(
          `${path}: ${String(save.changes[path])} leads to the certificates of the panel itself; ${OWN_WAY}`,
          { path },
        );
    const [path] = named;
    const other = this.#store.list().find(({ uses }) => uses.panel);
    if (path !== undefined && other)
      throw errors.TAKEN(
        `${path}: the panel uses certificate ${other.id} (${other.names[0]}); end that use first`,
        { path },
      );
  }

  /** Makes the panel serve what the settings name: at once when it serves HTTPS already, else from its next start on. Never rejects. */
  apply(): Promise<void> {
    // Two at once would each remove the folder of the other.
    this.#last = this.#last.then(() => this.#follow());
    return this.#last;
  }

  async #follow(): Promise<void> {
    const { webCertFile, webKeyFile } = this.#settings.read(panelFileSettings);
    if (this.#listener?.certificateSource !== 'default') return this.#sayUnused(webCertFile);
    try {
      const current = await this.#folders.panelFiles();
      if (current?.certificate === webCertFile && current.key === webKeyFile) return;
      if (webCertFile === '') return current && (await this.#folders.leavePanel());
      // A database may come from another machine.
      await readPair(webCertFile, webKeyFile);
      for (const path of [webCertFile, webKeyFile])
        if (await this.#folders.holds(path))
          throw new Error(`${path} leads to the certificates of the panel itself; ${OWN_WAY}`);
      await this.#folders.usePanelFiles({ certificate: webCertFile, key: webKeyFile });
      await this.#listener?.readCertificate();
    } catch (error) {
      this.#log.error('the panel does not use webCertFile and webKeyFile; it stays as it was', {
        problem: messageOf(error),
      });
    }
  }

  #sayUnused(webCertFile: string): void {
    const { certificateSource, certificateFiles } = this.#listener ?? {};
    if (certificateSource === 'file' && webCertFile !== certificateFiles?.certificate)
      this.#log.warn(
        'tlsCert in the config file names the certificate of the panel; webCertFile and webKeyFile are not used',
        { webCertFile },
      );
  }
}

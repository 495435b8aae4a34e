// What lies on the disk and is in use, read from the files themselves: a database that was restored knows nothing of them.
import { type Log, messageOf } from '../../kernel/index.js';
import type { Certificate, CertificateStore } from './certificate-store.js';
import type { CertificateFolders } from './certificate-files.js';
import { type CheckedChain, readChain } from './checked-chain.js';

export class ServedCertificates {
  readonly #store: CertificateStore;
  readonly #folders: CertificateFolders;
  readonly #log: Log;
  readonly #known = new Map<number, CheckedChain>();

  constructor({ store, folders, log }: { store: CertificateStore; folders: CertificateFolders; log: Log }) {
    this.#store = store;
    this.#folders = folders;
    this.#log = log;
  }

  /** Undefined when there is none that fits. */
  of(id: number): CheckedChain | undefined {
    return this.#known.get(id);
  }

  async start(): Promise<void> {
    for (const certificate of this.#store.list()) await this.read(certificate);
  }

  /** Files that are not those of the certificate are as none: it is ordered again. */
  async read({ id, folder, names }: Certificate): Promise<void> {
    try {
      const order = await this.#folders.current(folder);
      const pair = order === '' ? undefined : await this.#folders.pairOf(folder, order);
      if (pair) this.#known.set(id, readChain(pair.cert, { names, key: pair.key }));
      else this.#known.delete(id);
    } catch (error) {
      this.#known.delete(id);
      this.#log.error('the files of a certificate cannot be used; it will be ordered again', {
        names,
        problem: messageOf(error),
      });
    }
  }

  forget(id: number): void {
    this.#known.delete(id);
  }
}

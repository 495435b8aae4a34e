// What lies on the disk and is in use, read from the files themselves: a database that was restored knows nothing of them.
import { type Clock, type Log, messageOf } from '../../kernel/index.js';
import type { Certificate, CertificateStore } from './certificate-store.js';
import type { CertificateFolders } from './certificate-files.js';
import { type CheckedChain, readChain } from './checked-chain.js';

/** The core reads files again once an hour; certificates that end before are replaced in it at once. */
const CORE_READS_MS = 2 * 3_600_000;

export class ServedCertificates {
  readonly #clock: Clock;
  readonly #store: CertificateStore;
  readonly #folders: CertificateFolders;
  readonly #log: Log;
  readonly #known = new Map<number, CheckedChain>();

  /** ids of those whose predecessor had ended, or nearly */
  readonly #urgent = new Set<number>();

  constructor({
    clock,
    store,
    folders,
    log,
  }: { clock: Clock; store: CertificateStore; folders: CertificateFolders; log: Log }) {
    this.#clock = clock;
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
      const before = this.#known.get(id);
      if (pair) this.#known.set(id, readChain(pair.cert, { names, key: pair.key }));
      else this.#known.delete(id);
      const isNew = pair && before && this.#known.get(id)?.serial !== before.serial;
      if (isNew && before.validTo < this.#clock.now() + CORE_READS_MS) this.#urgent.add(id);
    } catch (error) {
      this.#known.delete(id);
      this.#log.error('the files of a certificate cannot be used; it will be ordered again', {
        names,
        problem: messageOf(error),
      });
    }
  }

  /** Whether the core must not wait until it reads the files by itself. */
  isUrgent(id: number): boolean {
    return this.#urgent.has(id);
  }
  /** The core has read them. */
  settled(id: number): void {
    this.#urgent.delete(id);
  }

  forget(id: number): void {
    this.#urgent.delete(id);
    this.#known.delete(id);
  }
}

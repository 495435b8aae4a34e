// Brings the files of certificates on this machine to what the database says: another panel may have ordered them, or the
// database may come from a backup. The later certificate counts, wherever it lies.
import { type Log, messageOf, type PluginContext } from '../../kernel/index.js';
import type { CertificateFolders } from './certificate-files.js';
import type { CertificatePairs, Pair } from './certificate-pairs.js';
import type { Certificate, CertificateStore } from './certificate-store.js';
import { type CheckedChain, readChain } from './checked-chain.js';
import type { Issuer } from './issuer.js';
import type { Pem } from './pair-files.js';
import type { ServedCertificates } from './served.js';
import type { CertificateUses } from './uses.js';

interface Needs {
  readonly signal: PluginContext['signal'];
  readonly log: Log;
  readonly store: CertificateStore;
  readonly pairs: CertificatePairs;
  readonly folders: CertificateFolders;
  readonly served: ServedCertificates;
  readonly issuer: Issuer;
  readonly uses: CertificateUses;
}

export class FollowedCertificates {
  readonly #needs: Needs;
  /** those that may have files here, by id: they go when the certificate does */
  readonly #known = new Map<number, Certificate>();
  /** by id, as they were when they were followed the last time */
  readonly #seen = new Map<number, Certificate>();
  #last: readonly unknown[] = [];
  /** the run that has not begun yet: an order before it may take minutes */
  #next: Promise<void> | undefined;
  /** the last problem of each, by id */
  readonly #logged = new Map<number, string>();

  constructor({ signal, log, store, pairs, folders, served, issuer, uses }: Needs) {
    this.#needs = { signal, log, store, pairs, folders, served, issuer, uses };
  }

  /** Follows when something has changed since the last time. Never rejects. */
  async changed(): Promise<void> {
    const { store, pairs, log } = this.#needs;
    try {
      const now = [store.list(), pairs.all];
      if (now.some((part, i) => part !== this.#last[i])) await this.run();
    } catch (error) {
      log.error('certificates of other panels are followed within a minute', { problem: messageOf(error) });
    }
  }

  /** Rejects only while memory is loaded again. */
  run(): Promise<void> {
    const { issuer, store, pairs, signal } = this.#needs;
    return (this.#next ??= issuer.alone(async () => {
      this.#next = undefined;
      // It may have waited for an order until the panel stops.
      if (signal.aborted) return;
      const now = store.list();
      this.#last = [now, pairs.all];
      for (const gone of [...this.#known.values()])
        if (!now.some(({ folder }) => folder === gone.folder))
          await this.#attempt(gone, () => this.#remove(gone));
      for (const one of now) this.#known.set(one.id, one);
      for (const one of now) await this.#attempt(one, () => this.#follow(one));
    }));
  }

  /** Each problem is logged once; it is tried again each minute. */
  async #attempt({ id, names }: Certificate, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#logged.delete(id);
    } catch (error) {
      const problem = messageOf(error);
      if (this.#logged.get(id) !== problem)
        this.#needs.log.error('the files of a certificate do not follow the database', { names, problem });
      this.#logged.set(id, problem);
    }
  }

  async #follow(certificate: Certificate): Promise<void> {
    const { pairs, uses } = this.#needs;
    const { id } = certificate;
    const isNew = await this.#files(certificate, pairs.issued(id));
    await uses.follow(certificate, this.#seen.get(id), isNew);
    this.#seen.set(id, certificate);
  }

  /** Whether the files have changed. */
  async #files(certificate: Certificate, stored: Pair | undefined): Promise<boolean> {
    const { folders, pairs, served, store, log } = this.#needs;
    const { id, folder, names } = certificate;
    const order = await folders.current(folder);
    const present = served.of(id);
    if (order === (stored?.id ?? '') && (present || !stored)) return false;
    const kept = stored && (await pairs.read(stored.id));
    const chain = kept && readChain(kept.cert, { names, key: kept.key });
    // What another panel has just ordered or renewed comes; a key that only it can open is better than an older one.
    if (stored && !kept && pairs.otherAt(stored.id) !== undefined) return false;
    if (order !== '' && present && isLater(present, chain)) {
      const pem = await folders.pairOf(folder, order);
      if (pem) {
        await store.keep(id, order, pem, stored?.id);
        return false;
      }
    }
    if (!stored || !kept || !chain) return false;
    await this.#write(certificate, stored.id, kept);
    await served.read(certificate);
    log.info('the files of a certificate were taken from the database', {
      names,
      ...(stored.panel !== '' && { panel: stored.panel }),
      validTo: new Date(chain.validTo).toISOString(),
    });
    return true;
  }

  async #write({ id, folder }: Certificate, order: string, { cert, key }: Pem): Promise<void> {
    const { folders, store } = this.#needs;
    const open = store.openOrder(id)?.folder;
    const previous = await folders.current(folder);
    await folders.begin(folder, order, key);
    await folders.publish(folder, order, cert);
    // Whoever is reading the previous files now may finish.
    await folders.sweep(folder, new Set([previous, ...(open === undefined ? [] : [open])]));
  }

  async #remove({ id, folder }: Certificate): Promise<void> {
    const { folders, served, log } = this.#needs;
    if ((await folders.panel()) === folder) {
      await folders.leavePanel();
      log.warn('the certificate of this panel was removed; the panel serves HTTP from its next start on');
    }
    served.forget(id);
    await folders.remove(folder);
    this.#seen.delete(id);
    this.#known.delete(id);
  }
}

const isLater = (one: CheckedChain, other: CheckedChain | undefined): boolean =>
  !other || one.validFrom > other.validFrom;

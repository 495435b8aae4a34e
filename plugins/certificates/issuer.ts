// Orders certificates, one at a time. Each step is on the disk before the next one: whenever the panel is killed, the next
// start knows the order, has its key, and goes on.
import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { Clock, Hooks, Log, PluginContext } from '../../kernel/index.js';
import { messageOf, SerialQueue } from '../../kernel/index.js';
import type { PanelsApi } from '../cluster/contract.js';
import type { Accounts } from './accounts.js';
import type { CaCalls } from './ca-calls.js';
import { CaProblem, inDatabase } from './ca-problem.js';
import { type CertificateFolders, newFolder } from './certificate-files.js';
import type { CertificatePairs } from './certificate-pairs.js';
import { type Certificate, type CertificateStore, identityOf, type Order } from './certificate-store.js';
import { checkChain } from './checked-chain.js';
import { certificateFailed } from './contract.js';
import { errors, orderedBy } from './errors.js';
import type { KeyType } from './fields.js';
import { limitOf, waitAfter } from './order-times.js';
import { OrderRun } from './order-run.js';
import type { ServedCertificates } from './served.js';
import type { SharedProofs } from './shared-proofs.js';

/** Authorities forget orders after a week. */
const OLDEST_ORDER_MS = 6 * 86_400_000;

interface Needs {
  readonly clock: Clock;
  readonly log: Log;
  readonly hooks: Hooks;
  readonly signal: PluginContext['signal'];
  readonly store: CertificateStore;
  readonly folders: CertificateFolders;
  readonly served: ServedCertificates;
  readonly accounts: Accounts;
  readonly calls: CaCalls;
  readonly pairs: CertificatePairs;
  readonly proofs: SharedProofs;
  readonly panels: PanelsApi | undefined;
}

const generate = promisify(generateKeyPair);
const CURVES = { 'ec-256': 'prime256v1', 'ec-384': 'secp384r1' } as const;

/** PEM; not made in this thread, where it would block. */
async function keyFor(type: KeyType): Promise<string> {
  const { privateKey } =
    type === 'ec-256' || type === 'ec-384'
      ? await generate('ec', { namedCurve: CURVES[type] })
      : await generate('rsa', { modulusLength: type === 'rsa-2048' ? 2048 : 4096 });
  return String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
}

export class Issuer {
  readonly #needs: Needs;
  readonly #queue = new SerialQueue();
  /** by id */
  readonly #running = new Map<number, Promise<Certificate>>();

  constructor(needs: Needs) {
    const { clock, log, hooks, signal, store, folders, served, accounts, calls, pairs, proofs, panels } =
      needs;
    this.#needs = {
      clock,
      log,
      hooks,
      signal,
      store,
      folders,
      served,
      accounts,
      calls,
      pairs,
      proofs,
      panels,
    };
  }

  /** Lets the leader go on with orders that this panel began and does not work on any more. */
  async leave(): Promise<void> {
    const { pairs, panels } = this.#needs;
    if (panels?.leads !== false) return;
    for (const { id, certificateId } of pairs.ofThis())
      if (!this.#running.has(certificateId)) await pairs.leave(id);
  }

  /** Work that must not meet an order. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.run(work);
  }

  /** Rejects with TOO_SOON, or with NOT_ISSUED and the reason, which `lastError` has as well. Whoever asks while it is ordered waits for that order. */
  issue(id: number, stop?: AbortSignal): Promise<Certificate> {
    const running = this.#running.get(id);
    if (running) return running;
    const signal = stop ? AbortSignal.any([stop, this.#needs.signal]) : this.#needs.signal;
    const order = this.alone(() => this.#issue(this.#needs.store.find(id), signal)).finally(() =>
      this.#running.delete(id),
    );
    this.#running.set(id, order);
    return order;
  }

  async #issue(certificate: Certificate, signal: AbortSignal): Promise<Certificate> {
    const { store } = this.#needs;
    signal.throwIfAborted();
    const open = store.openOrder(certificate.id);
    try {
      if (open) await this.#take(certificate, open);
      if (open && (await this.#isOver(certificate, open))) return store.find(certificate.id);
    } catch (error) {
      throw await this.#refused(certificate, open, error, signal);
    }
    await this.#requireTime(certificate);
    let order: Order | undefined;
    try {
      order = await this.#order(certificate);
      const chain = await this.#run(certificate, order, signal);
      await this.#publish(certificate, order, chain);
      return store.find(certificate.id);
    } catch (error) {
      throw await this.#refused(certificate, order, error, signal);
    }
  }

  /** The order to go on with, or a new one. Rejects with TOO_SOON when another panel has just begun one. */
  async #order(certificate: Certificate): Promise<Order> {
    const open = this.#needs.store.openOrder(certificate.id);
    if (!open) return this.#begin(certificate);
    await this.#take(certificate, open);
    return open;
  }

  /** Goes on with an order that another panel began and does not work on any more. Throws TOO_SOON while it does. */
  async #take({ folder }: Certificate, order: Order): Promise<void> {
    const { pairs, folders } = this.#needs;
    await pairs.take(order.folder);
    if ((await folders.keyOf(folder, order.folder).catch(() => undefined)) !== undefined) return;
    const stored = await pairs.read(order.folder);
    if (stored) await folders.begin(folder, order.folder, stored.key);
  }

  /** Why this panel does not work on the certificate any more, whatever has failed here; undefined when it does. */
  async #overtaken({ id, folder }: Certificate, order: Order | undefined): Promise<Error | undefined> {
    const { store, pairs, folders, served } = this.#needs;
    if (!store.get(id)) {
      // Another panel has removed it, and its files may have been written after that.
      served.forget(id);
      await folders.remove(folder).catch(() => undefined);
      return errors.NOT_FOUND('the certificate was removed while it was ordered');
    }
    const open = store.openOrder(id);
    const other = open && pairs.otherAt(open.folder);
    if (other === undefined && open?.id === order?.id) return undefined;
    return other === undefined ? errors.TOO_SOON('another panel has ended the order') : orderedBy(other);
  }

  /** Notes why nothing was issued, unless it is another panel's turn now. */
  async #refused(
    certificate: Certificate,
    order: Order | undefined,
    error: unknown,
    signal: AbortSignal,
  ): Promise<Error> {
    const { store, log, hooks } = this.#needs;
    // It goes on at the next start.
    signal.throwIfAborted();
    const overtaken = await this.#overtaken(certificate, order);
    if (overtaken) return overtaken;
    // A full disk, or a database that is away.
    const problem =
      error instanceof CaProblem ? error : new CaProblem(messageOf(error), { isTemporary: true });
    log.error('no certificate was issued', { names: certificate.names, problem: problem.message });
    await this.#failed(certificate, store.openOrder(certificate.id), problem);
    const { id, names } = certificate;
    hooks.emit(certificateFailed, { id, names, reason: problem.message });
    return errors.NOT_ISSUED(`no certificate was issued: ${problem.message}`, { cause: error });
  }

  /** Whether an order that a crash left open was complete; ends one that cannot go on. */
  async #isOver(certificate: Certificate, order: Order): Promise<boolean> {
    const { store, folders, clock } = this.#needs;
    const { folder } = certificate;
    const pair = await folders.pairOf(folder, order.folder).catch(() => undefined);
    if (pair)
      try {
        checkChain(pair.cert, { names: certificate.names, key: pair.key }, clock.now());
        await this.#publish(certificate, order, pair.cert);
        return true;
      } catch (error) {
        if (!(error instanceof CaProblem)) throw error;
      }
    const hasKey = (await folders.keyOf(folder, order.folder).catch(() => undefined)) !== undefined;
    const isFresh = Math.abs(clock.now() - order.startedAt) < OLDEST_ORDER_MS;
    if (order.url !== '' && hasKey && isFresh) return false;
    const why = !hasKey
      ? 'its key is gone'
      : order.url === ''
        ? 'the panel stopped before the authority confirmed it'
        : 'it is too old';
    this.#needs.log.warn('an order of a certificate was given up', { names: certificate.names, why });
    await store.end(order, 'lost', why, () => ({}));
    await folders.sweep(folder, new Set()).catch(() => undefined);
    return false;
  }

  async #requireTime(certificate: Certificate): Promise<void> {
    const { store, clock } = this.#needs;
    const now = clock.now();
    const refuse = (why: string, until: number) => {
      const at = new Date(until).toISOString().slice(0, 16).replace('T', ' ');
      return errors.TOO_SOON(`${why}; the next order is possible at ${at} UTC`, {
        headers: { 'retry-after': String(Math.max(1, Math.ceil((until - now) / 1000))) },
      });
    };
    if (certificate.isRefused && certificate.notBefore > now)
      throw refuse('the authority asked to wait', certificate.notBefore);
    // An order that is open counted when it began.
    if (store.openOrder(certificate.id)) return;
    const limit = limitOf(await store.orders(identityOf(certificate)), now);
    if (limit) throw refuse(limit.why, limit.until);
  }

  async #begin(certificate: Certificate): Promise<Order> {
    const { store, folders } = this.#needs;
    const folder = newFolder('order');
    const key = await keyFor(certificate.keyType);
    await folders.begin(certificate.folder, folder, key);
    return store.begin(certificate, folder, key);
  }

  async #run(certificate: Certificate, order: Order, signal: AbortSignal): Promise<string> {
    const { accounts, proofs, calls, folders, store, clock } = this.#needs;
    const { names, challenge, directory, folder } = certificate;
    const key = await folders.keyOf(folder, order.folder);
    if (key === undefined) throw new CaProblem('the key of the order is gone');
    let { url } = order;
    const answers = proofs.of(order.folder);
    const confirmed = async (at: string): Promise<void> => {
      url = at;
      await inDatabase(store.confirm(order, at));
    };
    const chain = await calls.during(directory, signal, (library) =>
      accounts.with(library, directory, (client) =>
        new OrderRun({ library, client, answers }, { names, challenge, key, url, confirmed, signal }).run(),
      ),
    );
    return checkChain(chain, { names, key }, clock.now()).chain;
  }

  async #publish(certificate: Certificate, order: Order, chain: string): Promise<void> {
    const { store, folders, served, log } = this.#needs;
    const before = await folders.current(certificate.folder);
    await folders.publish(certificate.folder, order.folder, chain);
    const change = (): Partial<Certificate> => ({
      usesPending: true,
      failures: 0,
      notBefore: 0,
      isRefused: false,
      lastError: '',
    });
    await store.end(order, 'issued', '', change, await folders.pairOf(certificate.folder, order.folder));
    store.find(certificate.id);
    await served.read(certificate);
    const { issuer = '', validTo = 0 } = served.of(certificate.id) ?? {};
    log.info('a certificate was issued', {
      names: certificate.names,
      issuer,
      validTo: new Date(validTo).toISOString(),
    });
    // Whoever is reading the previous files now may finish.
    await folders
      .sweep(certificate.folder, new Set([before]))
      .catch((error: unknown) =>
        log.warn('files of earlier orders could not be removed', { reason: messageOf(error) }),
      );
  }

  async #failed(certificate: Certificate, order: Order | undefined, problem: CaProblem): Promise<void> {
    const { store, folders, clock } = this.#needs;
    const change = (before: Certificate): Partial<Certificate> => {
      const failures = before.failures + 1;
      const next = clock.now() + waitAfter(failures);
      return {
        failures,
        notBefore: Math.max(next, problem.notBefore),
        isRefused: problem.notBefore > clock.now(),
        lastError: problem.message,
      };
    };
    // What the authority has confirmed may still be issued: the order stays, and goes on later.
    if (order && !(problem.isTemporary && order.url !== ''))
      await store.end(order, 'failed', problem.message, change);
    else await store.change(certificate.id, change);
    const open = store.openOrder(certificate.id);
    await folders.sweep(certificate.folder, new Set(open && [open.folder])).catch(() => undefined);
  }
}

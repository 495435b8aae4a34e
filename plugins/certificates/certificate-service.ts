// What admins do with certificates.
import { type Clock, type LiveSettings, messageOf, type Principal } from '../../kernel/index.js';
import type { Accounts } from './accounts.js';
import type { CaCalls } from './ca-calls.js';
import { CaProblem } from './ca-problem.js';
import { type CertificateFolders, newFolder } from './certificate-files.js';
import {
  type Certificate,
  type CertificateStore,
  certificateVersion,
  identityOf,
  type Order,
} from './certificate-store.js';
import { errors } from './errors.js';
import type { CertificateReply, SentCertificate, SentUses } from './fields.js';
import type { Issuer } from './issuer.js';
import { directoryProblem, namesOf } from './names.js';
import { orderAt } from './order-times.js';
import type { ServedCertificates } from './served.js';
import type { certificateSettings } from './settings.js';
import type { CertificateUses } from './uses.js';

const dateOf = (ms: number | undefined): string => (ms === undefined ? '' : new Date(ms).toISOString());

export class CertificateService {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #settings: LiveSettings<typeof certificateSettings>;
  readonly #store: CertificateStore;
  readonly #folders: CertificateFolders;
  readonly #served: ServedCertificates;
  readonly #uses: CertificateUses;
  readonly #issuer: Issuer;
  readonly #accounts: Accounts;
  readonly #calls: CaCalls;

  constructor(needs: {
    clock: Clock;
    signal: AbortSignal;
    settings: LiveSettings<typeof certificateSettings>;
    store: CertificateStore;
    folders: CertificateFolders;
    served: ServedCertificates;
    uses: CertificateUses;
    issuer: Issuer;
    accounts: Accounts;
    calls: CaCalls;
  }) {
    this.#clock = needs.clock;
    this.#signal = needs.signal;
    this.#settings = needs.settings;
    this.#store = needs.store;
    this.#folders = needs.folders;
    this.#served = needs.served;
    this.#uses = needs.uses;
    this.#issuer = needs.issuer;
    this.#accounts = needs.accounts;
    this.#calls = needs.calls;
  }

  list(): CertificateReply[] {
    return this.#store.list().map((certificate) => this.shown(certificate));
  }

  /** Throws NOT_FOUND. */
  get(id: number): CertificateReply {
    return this.shown(this.#store.find(id));
  }

  shown(certificate: Certificate): CertificateReply {
    const { id, names, challenge, keyType, directory, uses, failures, lastError, createdAt } = certificate;
    const served = this.#served.of(id);
    const files = served && this.#folders.paths(certificate.folder);
    const isOrdering = this.#store.openOrder(id) !== undefined;
    return {
      id,
      names: [...names],
      challenge,
      keyType,
      directory,
      uses: { ...uses, inbounds: [...uses.inbounds] },
      state: !served ? 'none' : served.validTo > this.#clock.now() ? 'valid' : 'expired',
      ordering: isOrdering,
      certificateFile: files?.certificate ?? '',
      keyFile: files?.key ?? '',
      issuer: served?.issuer ?? '',
      serial: served?.serial ?? '',
      validFrom: dateOf(served?.validFrom),
      validTo: dateOf(served?.validTo),
      renewAt: isOrdering ? null : orderAt(certificate, served),
      failures,
      lastError,
      createdAt,
      version: certificateVersion.of(certificate),
    };
  }

  async add(
    sent: SentCertificate,
    who: Principal,
    note: ((added: Certificate) => void) | undefined,
  ): Promise<Certificate> {
    if (!sent.agreeToTerms) throw errors.TERMS(undefined, { path: 'agreeToTerms' });
    const names = namesOf(sent.names);
    const { directory = this.#settings.read().acmeDirectory } = sent;
    const problem = directoryProblem(directory);
    if (problem !== undefined) throw errors.DIRECTORY(`directory: ${problem}`, { path: 'directory' });
    const uses = this.#uses.read(sent.uses);
    const values = {
      folder: newFolder(names[0] ?? 'certificate'),
      names,
      challenge: sent.challenge ?? ('http-01' as const),
      directory,
      keyType: sent.keyType ?? ('ec-256' as const),
      uses,
      usesPending: false,
      failures: 0,
      notBefore: 0,
      isRefused: false,
      lastError: '',
    };
    const check = (): void => {
      this.#uses.requireFree(uses, undefined);
      const twin = this.#store.list().find((other) => identityOf(other) === identityOf(values));
      if (twin)
        throw errors.NAMES(`names: certificate ${twin.id} has the same names and authority; use that one`, {
          path: 'names',
        });
    };
    return this.#store.add(values, who, check, note);
  }

  /** Resolves with what an admin must do first; empty when nothing. */
  async issue(id: number, who: Principal): Promise<{ certificate: Certificate; note: string }> {
    const issued = await this.#issuer.issue(id);
    const note = await this.#issuer.alone(() => this.#uses.apply(issued, who));
    return { certificate: this.#store.find(id), note };
  }

  async changeUses(
    id: number,
    sent: SentUses,
    who: Principal,
  ): Promise<{ certificate: Certificate; note: string }> {
    const uses = this.#uses.read(sent);
    return this.#issuer.alone(async () => {
      const before = this.#store.find(id);
      const changed = await this.#store.change(
        id,
        () => {
          this.#uses.requireFree(uses, id);
          return { uses, usesPending: true };
        },
        who,
      );
      if (before.uses.panel && !uses.panel && (await this.#folders.panel()) === before.folder)
        await this.#folders.leavePanel();
      const note = await this.#uses.apply(changed, who);
      return { certificate: this.#store.find(id), note };
    });
  }

  orders(id: number): Promise<readonly Order[]> {
    return this.#store.orders(identityOf(this.#store.find(id)));
  }

  remove(id: number, revoke: boolean, who: Principal): Promise<void> {
    return this.#issuer.alone(async () => {
      const certificate = this.#store.find(id);
      const users = await this.#uses.usersOf(certificate);
      if (users.length > 0)
        throw errors.IN_USE(
          `certificate ${id} is used by ${users.slice(0, 5).join(', ')}; give them another one first`,
        );
      if (revoke) await this.#revoke(certificate);
      await this.#store.remove(id, who);
      this.#served.forget(id);
      await this.#folders.remove(certificate.folder);
    });
  }

  async #revoke({ folder, directory }: Certificate): Promise<void> {
    const order = await this.#folders.current(folder);
    const pair = order === '' ? undefined : await this.#folders.pairOf(folder, order);
    if (!pair) throw errors.NOT_REVOKED('nothing was issued that could be revoked', { path: 'revoke' });
    try {
      await this.#calls.during(directory, this.#signal, (library) =>
        this.#accounts.withAny(library, directory, (client) => client.revokeCertificate(pair.cert)),
      );
    } catch (cause) {
      this.#signal.throwIfAborted();
      // The reply to an earlier attempt was lost.
      if (cause instanceof CaProblem && cause.type === 'alreadyRevoked') return;
      throw errors.NOT_REVOKED(`the certificate was not revoked and not removed: ${messageOf(cause)}`, {
        cause,
      });
    }
  }
}

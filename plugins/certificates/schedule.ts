// Orders what is due, finishes what a crash interrupted, and puts certificates where they are not used yet.
import { type Clock, PanelError, type Principal } from '../../kernel/index.js';
import type { CertificatePairs } from './certificate-pairs.js';
import type { Certificate, CertificateStore } from './certificate-store.js';
import type { Issuer } from './issuer.js';
import { orderAt } from './order-times.js';
import type { ServedCertificates } from './served.js';
import type { CertificateUses } from './uses.js';

export class RenewalSchedule {
  readonly #needs: {
    readonly clock: Clock;
    readonly self: Principal;
    readonly store: CertificateStore;
    readonly served: ServedCertificates;
    readonly pairs: CertificatePairs;
    readonly issuer: Issuer;
    readonly uses: CertificateUses;
  };

  constructor({
    clock,
    self,
    store,
    served,
    pairs,
    issuer,
    uses,
  }: {
    clock: Clock;
    self: Principal;
    store: CertificateStore;
    served: ServedCertificates;
    pairs: CertificatePairs;
    issuer: Issuer;
    uses: CertificateUses;
  }) {
    this.#needs = { clock, self, store, served, pairs, issuer, uses };
  }

  #isDue(certificate: Certificate): boolean {
    const { clock, store, served, pairs } = this.#needs;
    const open = store.openOrder(certificate.id);
    if (open) return pairs.otherAt(open.folder) === undefined && clock.now() >= certificate.notBefore;
    return clock.now() >= orderAt(certificate, served.of(certificate.id));
  }

  async run(signal: AbortSignal): Promise<void> {
    const { store, issuer, uses, self } = this.#needs;
    for (const { id } of store.list()) {
      const certificate = store.get(id);
      if (signal.aborted || !certificate) continue;
      if (this.#isDue(certificate))
        try {
          await issuer.issue(id, signal);
        } catch (error) {
          // `lastError` has the reason; the admin may have removed the certificate.
          if (!signal.aborted && !(error instanceof PanelError)) throw error;
        }
      const after = store.get(id);
      if (after?.usesPending && !signal.aborted) await issuer.alone(() => uses.apply(after, self));
    }
  }
}

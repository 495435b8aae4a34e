// What the running core runs, as digests. They are stored beside the core, for the next panel.
import type { AppliedDigests, CoreBase, CoreDriver } from '../driver.js';

const NOTHING: AppliedDigests = { base: '', outbounds: {}, first: '', rules: '', inbounds: {} };

export class Applied {
  digests = NOTHING;
  /** the base that runs, where this panel has made it */
  base: CoreBase | undefined;

  /** Stores a change of the digests. Before a change reaches the core its digest is emptied: after a crash the next panel makes it again. */
  async remember(driver: Pick<CoreDriver, 'remember'>, change: Partial<AppliedDigests>): Promise<void> {
    this.digests = { ...this.digests, ...change };
    await driver.remember(this.digests);
  }

  /** Makes the next change put this inbound, even if the core has it already. */
  suspectInbound(tag: string): void {
    this.digests = { ...this.digests, inbounds: { ...this.digests.inbounds, [tag]: '' } };
  }
}

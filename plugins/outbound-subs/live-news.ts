// Word of changes for pages that show outbound subscriptions.
import type { LiveOutput } from '../realtime/contract.js';

export class LiveNews {
  /** undefined while no plugin sends live messages */
  output: LiveOutput | undefined;

  changed(): void {
    this.output?.invalidate('outbound-subs');
  }
  /** The core has other outbounds; pages that were made for other panels know only this name. */
  outboundsChanged(): void {
    this.output?.invalidate('outbounds');
  }
}

// Word of changes for pages that show balancers.
import type { LiveOutput } from '../realtime/contract.js';

export class LiveNews {
  /** undefined while no plugin sends live messages */
  output: LiveOutput | undefined;

  changed(): void {
    this.output?.invalidate('sub-balancers');
  }
}

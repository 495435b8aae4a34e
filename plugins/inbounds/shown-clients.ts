// The clients of an inbound in a reply.
import type { LongList } from '../../kernel/index.js';

/** The clients of an inbound as a reply shows them, by id. They are read while it is sent. */
export interface ShownClients {
  /** what each used: `clientStats` */
  readonly stats: LongList<Record<string, unknown>>;
  /** `settings.clients` */
  readonly clients: LongList<Record<string, unknown>>;
}
/** list: what this panel counted, as other panels take differences of it; whole: usage as everywhere; slim: clients without their secrets. */
export type ClientsShownIn = 'list' | 'whole' | 'slim';

// The clients that callers send inside `settings` of an inbound, as existing programs do.
import type { PluginContext, Principal, Tx } from '../../kernel/index.js';
import { type Applied, DONE } from '../engine/contract.js';
import { InboundClients } from './contract.js';
import { errors } from './errors.js';
import type { Inbound } from './fields.js';

/** What an edit of an inbound does with the clients in its `settings`; made by `InboundClients`. */
export interface ClientsPlan {
  /** Writes the clients, in the transaction of the inbound. Called last. */
  write(tx: Tx, inbound: Inbound): Promise<void>;
  /** Brings the clients into the core, after the commit and after the inbound. */
  apply(): Promise<Applied>;
  /** what happens to clients, for the message; empty if nothing does */
  readonly note: string;
}
export interface SentClients {
  /** `settings.clients` as it was sent */
  readonly clients: unknown;
  /** the inbound before the edit; undefined for a new one */
  readonly before: Inbound | undefined;
  /** the inbound as it will be saved */
  readonly saved: Omit<Inbound, 'id'>;
  readonly who: Principal;
  /** takes the names of keys that nothing reads, as `settings.clients[].fooBar` */
  readonly ignored: Set<string>;
}

const UNTOUCHED: ClientsPlan = {
  write: () => Promise.resolve(),
  apply: () => Promise.resolve(DONE),
  note: '',
};

export class SentClientsPlans {
  readonly #contributions: PluginContext['contributions'];

  constructor({ contributions }: Pick<PluginContext, 'contributions'>) {
    this.#contributions = contributions;
  }

  /** Plans what happens to clients. Without a list of them, nothing does. */
  async of(
    settings: Inbound['settings'] | undefined,
    { before, saved }: Pick<SentClients, 'before' | 'saved'>,
    who: Principal,
    ignored: Set<string>,
  ): Promise<ClientsPlan> {
    const clients = settings?.['clients'] ?? undefined;
    if (clients === undefined) return UNTOUCHED;
    const [owner] = this.#contributions(InboundClients);
    if (owner) return owner.value.plan({ clients, before, saved, who, ignored });
    if (!before && Array.isArray(clients) && clients.length > 0)
      throw errors.CLIENTS_APART(undefined, { path: 'settings.clients' });
    return UNTOUCHED;
  }
}

/** The first of these that the core has not taken yet. */
export const firstPending = (...applied: readonly Applied[]): Applied =>
  applied.find(({ pending }) => pending) ?? (applied[0] as Applied);

// Inbounds as replies show them, with what other plugins know of them.
import { type Hooks, PanelError } from '../../kernel/index.js';
import { describeInbounds, type InboundView } from './contract.js';
import { errors } from './errors.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import { hiddenNames, type Inbound, jsonNames, without } from './fields.js';
import { optionOf } from './option.js';
import { type Programs, RUNNING } from './contributed/programs.js';
import type { InboundStore } from './store.js';

/** Of fields that lists leave out. */
const NULLS = Object.fromEntries(jsonNames.map((name) => [name, null])) as Record<
  (typeof jsonNames)[number],
  null
>;

export class InboundViews {
  readonly #hooks: Hooks;
  readonly #store: InboundStore;
  readonly #programs: Programs;
  readonly #identity: PanelIdentityApi;

  constructor({
    hooks,
    store,
    programs,
    identity,
  }: { hooks: Hooks; store: InboundStore; programs: Programs; identity: PanelIdentityApi }) {
    this.#hooks = hooks;
    this.#store = store;
    this.#programs = programs;
    this.#identity = identity;
  }

  /** Without `whole`, JSON fields are null. */
  #view(inbounds: readonly Inbound[], whole: boolean) {
    const rows: InboundView[] = inbounds.map((inbound) => ({
      ...without(inbound, hiddenNames),
      ...this.#store.usage(inbound.id),
      clientStats: [],
      fallbackParent: null,
      nodeId: null,
      originNodeGuid: this.#identity.guid,
      state: this.#programs.state(inbound),
    }));
    return this.#hooks.refine(describeInbounds, rows, { whole }).map((row) => ({
      ...row,
      ...(!whole && NULLS),
      clientStats: row.clientStats as Record<string, unknown>[],
    }));
  }

  list() {
    return this.#view(this.#store.list(), false);
  }

  options() {
    return this.#store.list().map((inbound) => optionOf(inbound, this.#store));
  }

  /** With settings, but of each client only who it is: no secrets of clients. */
  slim() {
    return this.#view(this.#store.list(), true).map((row) => {
      const { clients } = row.settings ?? {};
      return {
        ...row,
        settings: {
          ...row.settings,
          clients: (Array.isArray(clients) ? (clients as Record<string, unknown>[]) : []).map(
            ({ email, enable, comment }) => ({ email, enable, comment }),
          ),
        },
      };
    });
  }

  /** What the admin should know about it, to stand behind the message of a reply: how its program is doing, and what its protocol says of its settings. Empty when there is nothing. */
  note(id: number): string {
    const inbound = this.#store.get(id);
    if (!inbound) return '';
    const state = inbound.enable ? this.#programs.state(inbound) : '';
    const notes = state === '' || state === RUNNING ? '' : `; ${state}`;
    try {
      const note = this.#store.protocol(inbound.protocol)?.note?.(inbound.settings);
      return note === undefined ? notes : `${notes}; ${note}`;
    } catch (error) {
      // The protocol's plugin fails, which is logged; the inbound is saved.
      if (error instanceof PanelError) return notes;
      throw error;
    }
  }

  get(id: number) {
    const [row] = this.#view([this.#store.find(id)], true);
    if (!row) throw errors.NOT_FOUND();
    return row;
  }

  /** Those of these keys that no reply about the inbound has: programs send back what they were shown, also of other plugins. */
  withoutShown(keys: ReadonlySet<string>, id: number): string[] {
    if (keys.size === 0) return [];
    const shown = this.get(id);
    return [...keys].filter((key) => !(key in shown));
  }
}

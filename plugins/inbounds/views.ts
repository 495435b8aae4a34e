// Inbounds as replies show them, with what other plugins know of them.
import type { Hooks } from '../../kernel/index.js';
import { type Applied, describeResult } from '../engine/contract.js';
import { describeInbounds, type InboundView } from './contract.js';
import { errors } from './errors.js';
import { hiddenNames, type Inbound, jsonNames, without } from './fields.js';
import { optionOf } from './option.js';
import type { Programs } from './programs.js';
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

  constructor({ hooks, store, programs }: { hooks: Hooks; store: InboundStore; programs: Programs }) {
    this.#hooks = hooks;
    this.#store = store;
    this.#programs = programs;
  }

  /** Without `whole`, JSON fields are null. */
  #view(inbounds: readonly Inbound[], whole: boolean) {
    const rows: InboundView[] = inbounds.map((inbound) => ({
      ...without(inbound, hiddenNames),
      ...this.#store.usage(inbound.id),
      clientStats: [],
      fallbackParent: null,
      nodeId: null,
      originNodeGuid: '',
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

  /** The words of a reply to an edit, with what the admin should know about the inbound. */
  said(done: string, applied: Applied, id: number): string {
    const inbound = this.#store.get(id);
    const notice = inbound && this.#programs.notice(inbound);
    return describeResult(notice === undefined ? done : `${done}; ${notice}`, applied);
  }

  get(id: number) {
    const [row] = this.#view([this.#store.find(id)], true);
    if (!row) throw errors.NOT_FOUND();
    return row;
  }
}

// Inbounds as replies show them, with what other plugins know of them.
import { type Hooks, LongList, PanelError, type PluginContext, type Principal } from '../../kernel/index.js';
import type { CallerRightsApi } from '../access/contract.js';
import {
  type ClientsShownIn,
  describeInbounds,
  InboundClients,
  type InboundView,
  type ShownClients,
} from './contract.js';
import { errors } from './errors.js';
import { hiddenNames, type Inbound, jsonNames, without } from './fields.js';
import { optionOf } from './option.js';
import { type Programs, RUNNING } from './contributed/programs.js';
import type { Places } from './places/places.js';
import type { InboundStore } from './store.js';
import { inboundVersion } from './version.js';

/** Of fields that lists leave out. */
const NULLS = Object.fromEntries(jsonNames.map((name) => [name, null])) as Record<
  (typeof jsonNames)[number],
  null
>;

const NONE = LongList.of([], () => ({}));
const NO_CLIENTS: ShownClients = { stats: NONE, clients: NONE };

const together = <T>(first: readonly T[], then: LongList<T>): LongList<T> =>
  first.length === 0
    ? then
    : new LongList(async function* () {
        yield first;
        yield* then.portions();
      });

export class InboundViews {
  readonly #hooks: Hooks;
  readonly #store: InboundStore;
  readonly #programs: Programs;
  readonly #places: Places;
  readonly #contributions: PluginContext['contributions'];
  readonly #rights: CallerRightsApi | undefined;

  constructor({
    hooks,
    store,
    programs,
    places,
    contributions,
    rights,
  }: {
    hooks: Hooks;
    store: InboundStore;
    programs: Programs;
    places: Places;
    contributions: PluginContext['contributions'];
    rights?: CallerRightsApi | undefined;
  }) {
    this.#hooks = hooks;
    this.#store = store;
    this.#programs = programs;
    this.#places = places;
    this.#contributions = contributions;
    this.#rights = rights;
  }

  /** Without their clients. */
  #described(inbounds: readonly Inbound[], whole: boolean): readonly InboundView[] {
    const rows: InboundView[] = inbounds.map((inbound) => ({
      ...without(inbound, hiddenNames),
      ...this.#store.usage(inbound.id),
      clientStats: [],
      fallbackParent: null,
      originNodeGuid: this.#places.of(inbound).guid,
      state: this.#programs.state(inbound),
      version: inboundVersion.of(inbound),
    }));
    return this.#hooks.refine(describeInbounds, rows, { whole });
  }

  /** Lists show JSON fields as null. Without `withStats`, `clientStats` is empty. */
  #view(inbounds: readonly Inbound[], shownIn: ClientsShownIn, withStats: boolean) {
    const [owner] = this.#contributions(InboundClients);
    return this.#described(inbounds, shownIn !== 'list').map((row) => {
      const { stats, clients } = owner?.value.show(row.id, shownIn) ?? NO_CLIENTS;
      const others = row.clientStats as Record<string, unknown>[];
      return {
        ...row,
        ...(shownIn === 'list'
          ? NULLS
          : { settings: { ...row.settings, ...((owner ?? shownIn === 'slim') && { clients }) } }),
        clientStats: withStats ? together(others, stats) : [],
      };
    });
  }

  /** Without what clients used for a caller who may not read clients: it has their keys. */
  list({ stats }: { readonly stats: boolean }, who: Principal) {
    const [owner] = this.#contributions(InboundClients);
    const mayRead = !owner || (this.#rights?.mayRead(who, owner.plugin) ?? true);
    return this.#view(this.#store.list(), 'list', stats && mayRead);
  }

  options() {
    return this.#store
      .list()
      .map((inbound) => optionOf(inbound, this.#store, this.#places.of(inbound).address));
  }

  /** With settings, but of each client only who it is: no secrets of clients. */
  slim({ stats }: { readonly stats: boolean }) {
    return this.#view(this.#store.list(), 'slim', stats);
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

  get(id: number, { stats }: { readonly stats: boolean } = { stats: true }) {
    const [row] = this.#view([this.#store.find(id)], 'whole', stats);
    if (!row) throw errors.NOT_FOUND();
    return row;
  }

  /** With its settings and without its clients. Throws NOT_FOUND. */
  own(id: number): InboundView {
    const [row] = this.#described([this.#store.find(id)], true);
    if (!row) throw errors.NOT_FOUND();
    return row;
  }

  /** Those of these keys that no reply about the inbound has: programs send back what they were shown, also of other plugins. */
  withoutShown(keys: ReadonlySet<string>, id: number): string[] {
    if (keys.size === 0) return [];
    const [shown = {}] = this.#described([this.#store.find(id)], true);
    return [...keys].filter((key) => !(key in shown));
  }
}

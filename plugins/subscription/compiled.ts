// The parts of a subscription that do not depend on the caller, computed when they change.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Hooks,
  type LiveSettings,
  type Log,
  PanelError,
  type PluginContext,
} from '../../kernel/index.js';
import type { EntryTemplate, Inbound, InboundsApi } from '../inbounds/contract.js';
import { panelSettings, type SettingsApi, timeZoneOf } from '../settings/contract.js';
import {
  composeSubscription,
  type Format,
  Formats,
  type LeftOut,
  inboundEntry,
  type Renderer,
  Renderers,
  type WayOutput,
} from './contract.js';
import { type CompiledEntry, compileEntry } from './entries.js';
import { contained } from './formats.js';
import { pathsOf, STANDARD_PATH } from './format-paths.js';
import { containedRenderer, type Wording, wordingOf } from './renderers.js';
import { compileHostRemark, compileRemark, type RemarkTemplate } from './remark/template.js';
import { SelectedEntries } from './selected-entries.js';
import { listenerSettings, type subscriptionSettings } from './settings.js';

/** How long a change waits for other plugins to add ways; less than a plugin may take in a hook, so only they are late. */
const PATIENCE_MS = 500;

export class Compiled {
  readonly #hooks: Hooks;
  readonly #log: Log;
  readonly #inbounds: InboundsApi;
  readonly #settings: LiveSettings<typeof subscriptionSettings>;
  readonly #allSettings: SettingsApi;
  readonly #contributions: PluginContext['contributions'];
  /** by inbound; enabled ones only */
  readonly #entries = new Map<number, readonly CompiledEntry[]>();
  /** the latest composition of each inbound; an earlier one that ends later is dropped */
  readonly #latest = new Map<number, object>();
  #order = new Map<number, number>();
  /** Many clients share the same list of inbounds, so there are few lists. */
  readonly #selections = new WeakMap<
    readonly number[],
    { order: Map<number, number>; entries: SelectedEntries }
  >();
  formats: readonly Format[] = [];
  /** Changes when formats and renderers may write other words than before. */
  words = {};
  #renderers: readonly Renderer[] = [];
  /** path prefix → format */
  prefixes = new Map<string, Format>();
  /** the same, as an array for every fetch */
  served: readonly (readonly [prefix: string, format: Format])[] = [];
  remark: RemarkTemplate = compileRemark('', { identityOnAllLinks: false });
  timeZone: string | undefined;
  /** by the remark of a host that holds tokens */
  #hostRemarks = new Map<string, RemarkTemplate>();

  constructor({
    hooks,
    log,
    inbounds,
    settings,
    allSettings,
    contributions,
  }: {
    hooks: Hooks;
    log: Log;
    inbounds: InboundsApi;
    settings: LiveSettings<typeof subscriptionSettings>;
    allSettings: SettingsApi;
    contributions: PluginContext['contributions'];
  }) {
    this.#hooks = hooks;
    this.#log = log;
    this.#inbounds = inbounds;
    this.#settings = settings;
    this.#allSettings = allSettings;
    this.#contributions = contributions;
  }

  async all(): Promise<void> {
    this.formats = this.#contributions(Formats).map(contained);
    this.#renderers = this.#contributions(Renderers).map(containedRenderer);
    this.settingsChanged();
    await this.inbounds();
  }

  async inbounds(): Promise<void> {
    this.words = {};
    for (const inbound of this.#inbounds.list()) await this.inbound(inbound);
  }

  /** How a format writes an entry that belongs to no inbound. */
  wording(format: Format, entry: EntryTemplate): Wording {
    return wordingOf(format, entry, this.#renderers);
  }

  /** A format or a renderer may return another value after its start. */
  hasWordsOf(plugin: string): boolean {
    return [Formats, Renderers].some((point) =>
      this.#contributions<unknown>(point).some((entry) => entry.plugin === plugin),
    );
  }

  settingsChanged(): void {
    this.#readSettings(({ name }, by) =>
      this.#log.warn(
        'a subscription format is not served, because another one has its path; change one of the paths',
        { format: name, servedThere: by.name },
      ),
    );
  }

  /** Runs `work`, which is synchronous, with what follows from the settings of this moment, and puts back what there was. */
  withSettings<T>(work: () => T): T {
    const { remark, words, timeZone, prefixes, served } = this;
    const hostRemarks = this.#hostRemarks;
    try {
      this.#readSettings(() => undefined);
      return work();
    } finally {
      Object.assign(this, { remark, words, timeZone, prefixes, served });
      this.#hostRemarks = hostRemarks;
    }
  }

  #readSettings(taken: (format: Format, by: Format) => void): void {
    const { remarkTemplate, subShowIdentityOnAllLinks } = this.#settings.read();
    this.remark = compileRemark(remarkTemplate, { identityOnAllLinks: subShowIdentityOnAllLinks });
    this.#hostRemarks = new Map();
    this.words = {};
    this.timeZone = timeZoneOf(this.#allSettings.read(panelSettings).timeLocation);
    const { subEnable } = this.#allSettings.read(listenerSettings);
    this.prefixes = pathsOf(subEnable ? this.formats : [], this.prefixes, taken);
    this.served = [...this.prefixes];
  }

  /** Undefined for the remark of a host that is the same on all links. */
  hostRemark(text: string): RemarkTemplate | undefined {
    if (!text.includes('{')) return undefined;
    const known = this.#hostRemarks.get(text);
    if (known) return known;
    const identityOnAllLinks = this.#settings.read().subShowIdentityOnAllLinks;
    const compiled = compileHostRemark(text, { identityOnAllLinks });
    this.#hostRemarks.set(text, compiled);
    return compiled;
  }

  /** The format whose path is the usual one of subscriptions. */
  get standard(): Format | undefined {
    return this.formats.find(({ pathSetting }) => pathSetting === STANDARD_PATH);
  }

  /** The formats of which people are told the address, each once. */
  get shown(): Format[] {
    return [...new Set(this.served.map(([, format]) => format))].filter(
      ({ variantOf }) => variantOf === undefined,
    );
  }

  /** The path of a format; undefined while it is disabled or another one has its path. */
  pathOf(format: Format): string | undefined {
    return [...this.prefixes].find(([, served]) => served === format)?.[0];
  }

  async inbound(inbound: Inbound): Promise<void> {
    if (!inbound.enable || !this.#inbounds.protocol(inbound.protocol)) return this.drop(inbound.id);
    const entry = this.#entryOf(inbound);
    const turn = {};
    this.#latest.set(inbound.id, turn);
    const further = entry ? await this.#hooks.compose(composeSubscription, { inbound, entry }) : [];
    if (this.#latest.get(inbound.id) !== turn) return;
    const ways = further.map((one) => one.entry);
    const compiled = ways.map((way) =>
      this.#compile(
        { inbound, ...way },
        this.formats.filter(
          ({ name, variantOf = name }) => !way.notIn?.some((one) => one === name || one === variantOf),
        ),
      ),
    );
    // Ways replace the inbound's own address, which may have to stay secret, in every format.
    if (ways.length === 0) compiled.push(this.#compile({ inbound, entry, hostRemark: '' }, this.formats));
    this.#entries.set(inbound.id, compiled);
    this.#sort();
  }

  /** Resolves earlier when a plugin that adds ways is slow; the rest follows once that plugin answers or is given up. */
  async patiently(work: () => Promise<void>): Promise<void> {
    let isLate = false;
    const timer = new AbortController();
    const done = work()
      .catch((error: unknown) => {
        if (!isLate) throw error;
        this.#log.error('inbounds could not be composed for subscriptions', { error });
      })
      .finally(() => timer.abort());
    const late = sleep(PATIENCE_MS, undefined, { signal: timer.signal }).then(
      () => void (isLate = true),
      () => undefined,
    );
    await Promise.race([done, late]);
  }

  /** Undefined when the plugin of its protocol failed; the failure is attributed to it. */
  #entryOf(inbound: Inbound): EntryTemplate | undefined {
    try {
      const entry = this.#inbounds.entry(inbound);
      return entry && this.#hooks.refine(inboundEntry, entry, { inbound });
    } catch (error) {
      if (error instanceof PanelError) return undefined;
      throw error;
    }
  }

  drop(inboundId: number): void {
    this.#latest.delete(inboundId);
    this.#entries.delete(inboundId);
    this.#sort();
  }

  #compile(way: Parameters<typeof compileEntry>[0], formats: readonly Format[]): CompiledEntry {
    const compiled = compileEntry(way, formats, this.#renderers);
    for (const [format, reason] of Object.entries(compiled.leftOut))
      this.#log.debug('a format cannot express an entry and leaves it out', {
        format,
        inbound: way.inbound.id,
        hostRemark: way.hostRemark,
        reason,
      });
    return compiled;
  }

  /** The entries that formats cannot express. */
  leftOut(): LeftOut[] {
    return [...this.#entries.values()]
      .flat()
      .flatMap(({ inboundId, hostRemark, leftOut }) =>
        Object.entries(leftOut).map(([format, reason = '']) => ({ format, inboundId, hostRemark, reason })),
      );
  }

  #sort(): void {
    const sorted = this.#inbounds.list().toSorted((a, b) => a.subSortIndex - b.subSortIndex || a.id - b.id);
    this.#order = new Map(sorted.map(({ id }, place) => [id, place]));
  }

  /** for plugins that add ways */
  readonly wayOutput: WayOutput = {
    recompose: (inboundIds) =>
      this.patiently(async () => {
        for (const id of inboundIds) {
          const inbound = this.#inbounds.get(id);
          if (inbound) await this.inbound(inbound);
        }
      }),
    formats: () => this.formats.map(({ name }) => name),
  };

  /** The place of an inbound in the order of subscriptions. */
  placeOf(inboundId: number): number {
    return this.#order.get(inboundId) ?? 0;
  }

  /** Entries of these inbounds in the order of the subscription of this client. The arrays are shared. */
  entriesOf(inboundIds: readonly number[], clientId: number): readonly CompiledEntry[] {
    const known = this.#selections.get(inboundIds);
    if (known?.order === this.#order) return known.entries.of(clientId);
    const place = (id: number) => this.placeOf(id);
    const entries = new SelectedEntries(
      inboundIds.toSorted((a, b) => place(a) - place(b)).flatMap((id) => this.#entries.get(id) ?? []),
    );
    this.#selections.set(inboundIds, { order: this.#order, entries });
    return entries.of(clientId);
  }
}

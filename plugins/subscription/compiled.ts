// Everything about a subscription that does not depend on who fetches it, worked out when it changes.
import type { Hooks, Log, PluginContext, LiveSettings } from '../../kernel/index.js';
import { type Inbound, type InboundsApi, viewStream } from '../inbounds/contract.js';
import { panelSettings, type SettingsApi } from '../settings/contract.js';
import { authorityOf } from './address.js';
import { composeSubscription, type Entry, type EntryTemplate, type Format, Formats } from './contract.js';
import { contained } from './formats.js';
import { pathsOf } from './paths.js';
import { compileRemark, type RemarkTemplate } from './remark/template.js';
import type { subscriptionSettings } from './settings.js';

export interface CompiledEntry {
  /** its name after the first link, where that is the same for all clients; worked out when it is first asked for */
  later?: { readonly remark: RemarkTemplate; readonly name: string };
  readonly inboundRemark: string;
  readonly hostRemark: string;
  readonly protocol: string;
  readonly network: string;
  readonly security: string;
  readonly authority: (requestHost: string) => string;
  /** by name of the format */
  readonly templates: Readonly<Record<string, EntryTemplate | undefined>>;
}

export class Compiled {
  readonly #hooks: Hooks;
  readonly #log: Log;
  readonly #inbounds: InboundsApi;
  readonly #settings: LiveSettings<typeof subscriptionSettings>;
  readonly #allSettings: SettingsApi;
  readonly #contributions: PluginContext['contributions'];
  /** by inbound; of enabled ones only */
  readonly #entries = new Map<number, readonly CompiledEntry[]>();
  #order = new Map<number, number>();
  /** Clients share their lists of inbounds, so there are few of them. */
  readonly #selections = new WeakMap<
    readonly number[],
    { order: Map<number, number>; entries: readonly CompiledEntry[] }
  >();
  formats: readonly Format[] = [];
  /** path prefix → format */
  prefixes = new Map<string, Format>();
  /** the same, for every fetch */
  served: readonly (readonly [prefix: string, format: Format])[] = [];
  remark: RemarkTemplate = compileRemark('', { identityOnAllLinks: false });
  timeZone: string | undefined;

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
    this.settingsChanged();
    await this.inbounds();
  }

  async inbounds(): Promise<void> {
    for (const inbound of this.#inbounds.list()) await this.inbound(inbound);
  }

  hasFormatOf(plugin: string): boolean {
    return this.#contributions(Formats).some((entry) => entry.plugin === plugin);
  }

  settingsChanged(): void {
    const { remarkTemplate, subShowIdentityOnAllLinks } = this.#settings.read();
    this.remark = compileRemark(remarkTemplate, { identityOnAllLinks: subShowIdentityOnAllLinks });
    const { timeLocation } = this.#allSettings.read(panelSettings);
    this.timeZone = timeLocation === 'Local' || timeLocation === '' ? undefined : timeLocation;
    this.prefixes = pathsOf(this.formats, this.prefixes, ({ name }, by) =>
      this.#log.warn(
        'a format of subscriptions is not served, for another one has its path; change one of the two',
        { format: name, servedThere: by.name },
      ),
    );
    this.served = [...this.prefixes];
  }

  /** Where a format is served; nowhere while it is off or another one has its path. */
  pathOf(format: Format): string | undefined {
    return [...this.prefixes].find(([, served]) => served === format)?.[0];
  }

  async inbound(inbound: Inbound): Promise<void> {
    const protocol = this.#inbounds.protocol(inbound.protocol);
    if (!inbound.enable || !protocol) return this.drop(inbound.id);
    const plain: Entry = { inbound, protocol, hostRemark: '' };
    const further = await this.#hooks.compose(composeSubscription, { inbound, protocol });
    // Hosts take the place of the inbound's own address, as soon as there is one.
    const entries = further.length > 0 ? further.map(({ entry }) => entry) : [plain];
    this.#entries.set(
      inbound.id,
      entries.map((entry) => this.#compile(entry)),
    );
    this.#sort();
  }

  drop(inboundId: number): void {
    this.#entries.delete(inboundId);
    this.#sort();
  }

  #compile(entry: Entry): CompiledEntry {
    const { inbound, hostRemark, address, port } = entry;
    const { network, security } = viewStream(inbound.streamSettings);
    return {
      inboundRemark: inbound.remark,
      hostRemark,
      protocol: inbound.protocol,
      network,
      security,
      authority: authorityOf(inbound, address, port),
      templates: Object.fromEntries(this.formats.map((format) => [format.name, format.compile(entry)])),
    };
  }

  #sort(): void {
    const sorted = this.#inbounds.list().toSorted((a, b) => a.subSortIndex - b.subSortIndex || a.id - b.id);
    this.#order = new Map(sorted.map(({ id }, place) => [id, place]));
  }

  /** Entries of these inbounds in the order of the subscription; the arrays are shared, the same set gives the same array. */
  entriesOf(inboundIds: readonly number[]): readonly CompiledEntry[] {
    const known = this.#selections.get(inboundIds);
    if (known?.order === this.#order) return known.entries;
    const place = (id: number) => this.#order.get(id) ?? 0;
    const entries = inboundIds
      .toSorted((a, b) => place(a) - place(b))
      .flatMap((id) => this.#entries.get(id) ?? []);
    this.#selections.set(inboundIds, { order: this.#order, entries });
    return entries;
  }
}

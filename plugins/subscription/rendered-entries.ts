// Renders the entries of one client from the compiled ones: as lines of a list, as parts of a document, or as data.
import { type Clock, kernelErrors } from '../../kernel/index.js';
import type { ClientRow } from '../clients/contract.js';
import { completeEntry, type ProxyEntry } from '../inbounds/contract.js';
import type { OwnEntries } from './client-entries.js';
import type { Compiled } from './compiled.js';
import type { DocumentEntry, DocumentFormat, EntrySource, ListFormat, Written } from './contract.js';
import type { CompiledEntry } from './entries.js';
import type { RemarkTemplate } from './remark/template.js';
import type { RemarkInput } from './remark/tokens.js';
import { stateOf, type Subscriber } from './subscriber.js';

/** One for all notes, because formats remember what follows from the list of sources. */
export const NOTE_SOURCE: EntrySource = Object.freeze({ inboundId: 0, template: undefined, isNote: true });

export interface WrittenList {
  readonly lines: string[];
  readonly written: Written;
}
export interface NamedLine {
  readonly name: string;
  readonly line: string;
}
export interface ListOptions {
  /** names for the panel */
  readonly display: boolean;
  /** of the program that fetches; '' for the panel */
  readonly agent: string;
  /** leaves out what leads to no inbound */
  readonly only?: 'inbounds' | undefined;
  /** a note before all entries */
  readonly lead?: NamedLine | undefined;
  /** also for the panel only clients whose links work */
  readonly working?: true;
}
/** The entries of a subscription; of several clients, with the client of each. */
interface Owned {
  readonly entries: readonly CompiledEntry[];
  readonly owners?: readonly ClientRow[];
}

export class RenderedEntries {
  readonly #compiled: Compiled;
  readonly #own: OwnEntries;
  readonly #clock: Clock;

  constructor({ compiled, own, clock }: { compiled: Compiled; own: OwnEntries; clock: Clock }) {
    this.#compiled = compiled;
    this.#own = own;
    this.#clock = clock;
  }

  /** `host` comes from `hostFor`. */
  list(
    format: ListFormat,
    subscriber: Subscriber,
    host: string,
    { display, agent, only, lead, working = display ? undefined : true }: ListOptions,
  ): WrittenList {
    const now = this.#clock.now();
    const { name: formatName, uniqueNames } = format;
    const taken = uniqueNames ? new Map<string, number>() : undefined;
    const lines: string[] = [];
    const names: string[] = [];
    const sources: EntrySource[] = [];
    if (lead) {
      if (taken) uniqueName(lead.name, lead.name, taken);
      lines.push(lead.line);
      names.push(lead.name);
      sources.push(NOTE_SOURCE);
    }
    const before = lines.length;
    const { entries, owners } = this.#entriesOf(subscriber, now, working === true);
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i] as CompiledEntry;
      const client = owners ? (owners[i] as ClientRow) : subscriber.client;
      const write = entry.writers[formatName];
      if (!write || (entry.hidden && !display)) continue;
      const { server, authority } = entry.place(host);
      const shown = display
        ? this.#compiled.remark.display(this.#input(entry, client, now, 'display'))
        : this.#name(entry, client, now, lines.length === before);
      const name = taken ? uniqueName(shown, `${entry.protocol}-${authority}`, taken) : shown;
      const line = write({ client, server, authority, name });
      if (line === '') continue;
      lines.push(line);
      names.push(name);
      sources.push(entry.source);
    }
    for (const client of only ? [] : this.#ownersIn(subscriber, now, working === true))
      for (const own of this.#own.of(client)) {
        const write = own.in(format)?.write;
        if (!write) continue;
        const { server, authority } = own.place;
        const shown = own.name(client);
        const name = taken ? uniqueName(shown, `${own.protocol}-${authority}`, taken) : shown;
        const line = write({ client, server, authority, name });
        if (line === '') continue;
        lines.push(line);
        names.push(name);
        sources.push(own.source);
      }
    return { lines, written: { client: subscriber.client, names, sources, agent } };
  }

  #ownersIn({ client, sharing }: Subscriber, now: number, working: boolean): readonly ClientRow[] {
    if (!sharing) return [client];
    return sharing.filter((one) => !working || stateOf({ client: one }, now) === 'working');
  }

  /** Of several clients those of one inbound stand together, in the order of the clients. */
  #entriesOf(subscriber: Subscriber, now: number, working: boolean): Owned {
    const { client, sharing } = subscriber;
    if (!sharing) return { entries: this.#compiled.entriesOf(client.inboundIds, client.id) };
    const pairs = this.#ownersIn(subscriber, now, working).flatMap((owner) =>
      this.#compiled.entriesOf(owner.inboundIds, owner.id).map((entry) => ({ entry, owner })),
    );
    const placed = pairs.toSorted(
      (a, b) => this.#compiled.placeOf(a.entry.inboundId) - this.#compiled.placeOf(b.entry.inboundId),
    );
    return { entries: placed.map(({ entry }) => entry), owners: placed.map(({ owner }) => owner) };
  }

  /** The name of an entry that belongs to no inbound. */
  noteName(remark: RemarkTemplate, client: ClientRow): string {
    const { timeZone } = this.#compiled;
    const none = { inboundRemark: '', hostRemark: '', protocol: '', network: '', security: '' };
    return remark.first({ ...none, client, now: this.#clock.now(), timeZone });
  }

  parts(format: DocumentFormat, subscriber: Subscriber, host: string): DocumentEntry[] {
    const now = this.#clock.now();
    const parts: DocumentEntry[] = [];
    const { entries, owners } = this.#entriesOf(subscriber, now, true);
    for (const [i, compiled] of entries.entries()) {
      const client = owners ? (owners[i] as ClientRow) : subscriber.client;
      const part = compiled.parts[format.name];
      if (!part || compiled.hidden) continue;
      if (part.failed) throw part.failed;
      const entry = this.#complete(
        compiled,
        client,
        host,
        this.#name(compiled, client, now, parts.length === 0),
      );
      const rendered = part.renderer?.render?.(entry);
      parts.push({ entry, ...(rendered && { rendered }) });
    }
    for (const client of this.#ownersIn(subscriber, now, true))
      for (const own of this.#own.of(client)) {
        const way = own.in(format);
        if (!way || !own.template) continue;
        const { server } = own.place;
        const entry = completeEntry(own.template, { client, server, name: own.name(client) });
        const rendered = way.renderer?.render?.(entry);
        parts.push({ entry, ...(rendered && { rendered }) });
      }
    return parts;
  }

  /** With the names for the panel. */
  proxies(client: ClientRow, host: string): ProxyEntry[] {
    const now = this.#clock.now();
    return this.#compiled
      .entriesOf(client.inboundIds, client.id)
      .map((entry) =>
        this.#complete(
          entry,
          client,
          host,
          this.#compiled.remark.display(this.#input(entry, client, now, 'display')),
        ),
      );
  }

  #complete({ template, place, protocol }: CompiledEntry, client: ClientRow, host: string, name: string) {
    if (!template) throw kernelErrors.PLUGIN_OFF(`the protocol ${protocol} failed; the log says why`);
    return completeEntry(template, { client, server: place(host).server, name });
  }

  #name(entry: CompiledEntry, client: ClientRow, now: number, isFirst: boolean): string {
    const { remark } = this.#compiled;
    if (isFirst) return remark.first(this.#input(entry, client, now, 'first'));
    const shared =
      remark.laterIsShared && this.#compiled.hostRemark(entry.hostRemark)?.laterIsShared !== false;
    if (!shared) return remark.later(this.#input(entry, client, now, 'later'));
    if (entry.later?.remark !== remark)
      entry.later = { remark, name: remark.later(this.#input(entry, client, now, 'later')) };
    return entry.later.name;
  }

  #input(
    { inboundRemark, hostRemark, protocol, network, security }: CompiledEntry,
    client: ClientRow,
    now: number,
    kind: 'first' | 'later' | 'display',
  ): RemarkInput {
    const { timeZone } = this.#compiled;
    const own = this.#compiled.hostRemark(hostRemark);
    const input = { inboundRemark, hostRemark, protocol, network, security, client, now, timeZone };
    return own ? { ...input, hostRemark: own[kind]({ ...input, hostRemark: '' }) } : input;
  }
}

/** `name`, or `name-2`, `name-3` … when it is taken. `taken` holds the last number that each name has been given. */
function uniqueName(shown: string, otherwise: string, taken: Map<string, number>): string {
  const wanted = shown.trim() === '' ? otherwise : shown;
  let number = taken.get(wanted) ?? 0;
  let name = wanted;
  if (number > 0) {
    do name = `${wanted}-${++number}`;
    while (taken.has(name));
    taken.set(wanted, number);
    number = 0;
  }
  taken.set(name, number + 1);
  return name;
}

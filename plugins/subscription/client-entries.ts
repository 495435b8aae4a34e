// Entries of one client that lead to no inbound of this panel: other plugins have them, formats write them after the others.
import {
  type Contributed,
  inspect,
  kernelErrors,
  type Log,
  PanelError,
  type PluginContext,
} from '../../kernel/index.js';
import type { ClientRow } from '../clients/contract.js';
import { type EntryTemplate, EntryTemplateShape } from '../inbounds/contract.js';
import { type Place, placeFor } from './address.js';
import type { Compiled } from './compiled.js';
import {
  ClientEntries,
  type ClientEntry,
  type ClientEntrySource,
  type EntrySource,
  type Format,
  type ListFormat,
  type Renderer,
  type WriteEntry,
} from './contract.js';
import { isDocument } from './formats.js';
import { GuardedCalls } from './guarded-calls.js';

const NONE: readonly OwnEntry[] = [];
const NOWHERE: Place = { server: '', authority: '' };

/** How a format writes an entry: by itself, or with a renderer. */
interface OwnWay {
  /** of lists */
  readonly write?: WriteEntry;
  /** of documents */
  readonly renderer?: Renderer;
}

/** An entry of a plugin, with what formats compiled of it. */
export class OwnEntry {
  readonly #entry: ClientEntry;
  readonly #guarded: GuardedCalls;
  readonly #compiled: Compiled;
  readonly #log: Log;
  #template: EntryTemplate | undefined;
  #isRead = false;
  #words: object | undefined;
  #ways = new Map<string, OwnWay | undefined>();
  #place: Place = NOWHERE;
  #source: EntrySource = { inboundId: 0, template: undefined };

  constructor(entry: ClientEntry, guarded: GuardedCalls, compiled: Compiled, log: Log) {
    this.#entry = entry;
    this.#guarded = guarded;
    this.#compiled = compiled;
    this.#log = log;
  }

  get place(): Place {
    return this.#place;
  }
  get source(): EntrySource {
    return this.#source;
  }
  get protocol(): string {
    return this.#template?.account.protocol ?? 'entry';
  }
  get template(): EntryTemplate | undefined {
    if (!this.#isRead) {
      this.#isRead = true;
      this.#template = this.#guarded.ask('template', isTemplate, () => this.#entry.template)?.answer;
      if (this.#template) this.#place = placeFor(this.#template)('');
      this.#source = { inboundId: 0, template: this.#template };
    }
    return this.#template;
  }

  name(client: ClientRow): string {
    const { name } = this.#entry;
    return typeof name === 'string' ? name : this.#guarded.text('name', name, client);
  }

  /** Undefined where the format leaves it out. */
  in(format: Format): OwnWay | undefined {
    if (this.#words !== this.#compiled.words) {
      this.#ways = new Map();
      this.#words = this.#compiled.words;
    }
    const { name } = format;
    if (!this.#ways.has(name)) this.#ways.set(name, this.#compile(format));
    return this.#ways.get(name);
  }

  #compile(format: Format): OwnWay | undefined {
    const text = isDocument(format) ? undefined : this.#entry.texts?.[format.name];
    if (text) return { write: ({ name }) => this.#guarded.text('text', text, name) };
    const { template } = this;
    if (!template) return undefined;
    const wording = this.#compiled.wording(format, template);
    if (wording.by === 'nobody') {
      const { reason } = wording;
      this.#log.debug('a format cannot express an entry of a client and leaves it out', {
        format: format.name,
        reason,
      });
      return undefined;
    }
    const renderer = wording.by === 'renderer' ? wording.renderer : undefined;
    if (isDocument(format)) return renderer ? { renderer } : {};
    return { write: ((renderer as ListFormat | undefined) ?? format).compile(template) };
  }
}

const isTemplate = (value: unknown): boolean =>
  value === undefined || 'value' in inspect(EntryTemplateShape, value);

export class OwnEntries {
  readonly #contributions: PluginContext['contributions'];
  readonly #compiled: Compiled;
  readonly #log: Log;
  readonly #known = new WeakMap<ClientEntry, OwnEntry>();

  constructor({
    contributions,
    compiled,
    log,
  }: {
    contributions: PluginContext['contributions'];
    compiled: Compiled;
    log: Log;
  }) {
    this.#contributions = contributions;
    this.#compiled = compiled;
    this.#log = log;
  }

  /** None for nearly all clients. Throws KERNEL_PLUGIN_OFF when the plugin fails: without its entries, programs would forget them. */
  of(client: ClientRow): readonly OwnEntry[] {
    let all = NONE;
    for (const source of this.#contributions(ClientEntries)) {
      const own = ask(source, client);
      if (own.length > 0) all = [...all, ...own.map((entry) => this.#ownOf(entry, source))];
    }
    return all;
  }

  #ownOf(entry: ClientEntry, { fault }: Contributed<ClientEntrySource>): OwnEntry {
    const known = this.#known.get(entry);
    if (known) return known;
    const guarded = new GuardedCalls('the entries of a client', fault);
    const made = new OwnEntry(entry, guarded, this.#compiled, this.#log);
    this.#known.set(entry, made);
    return made;
  }
}

function ask({ value, fault }: Contributed<ClientEntrySource>, client: ClientRow): readonly ClientEntry[] {
  try {
    const answer: unknown = value.of(client);
    if (Array.isArray(answer)) return answer as readonly ClientEntry[];
    (answer as { catch?: (ignore: () => void) => void } | null)?.catch?.(() => undefined);
    throw new Error('it returned no list of entries');
  } catch (error) {
    // Memory that is being loaded again answers 503, which is no fault.
    if (error instanceof PanelError) throw error;
    fault('entries of a client', error);
    throw kernelErrors.PLUGIN_OFF('the entries of a client failed; the log says why', { cause: error });
  }
}

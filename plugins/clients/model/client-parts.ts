// Data of other plugins that belongs to clients: sent when clients are created, shown with one client, and exported.
import { type Contributed, kernelErrors, PanelError, type PluginContext } from '../../../kernel/index.js';
import { type ClientPart, ClientParts, type SentParts } from '../contract.js';
import { PART_NAMES } from './schema.js';

export class PartsOfClients {
  readonly #contributions: PluginContext['contributions'];
  #all: readonly Contributed<ClientPart>[] | undefined;

  constructor({ contributions }: { contributions: PluginContext['contributions'] }) {
    this.#contributions = contributions;
  }

  /** Complete when the first call comes. Not collected for each client: that is a pass over the entries of all plugins. */
  get #parts(): readonly Contributed<ClientPart>[] {
    return (this.#all ??= this.#contributions(ClientParts));
  }

  /** What was sent for one client, validated; undefined when nothing was sent. Throws the error of a part, which names the field. */
  check(sent: SentParts): SentParts | undefined {
    if (PART_NAMES.every((name) => !sent[name])) return undefined;
    const checked: { -readonly [K in keyof SentParts]: SentParts[K] } = {};
    for (const { value: part, fault } of this.#parts) {
      const own = sent[part.name];
      if (!own) continue;
      try {
        checked[part.name] = part.check(own);
      } catch (error) {
        if (error instanceof PanelError) throw error;
        fault(`check of ${part.name}`, error);
        throw kernelErrors.PLUGIN_FAILED();
      }
    }
    return checked;
  }

  /** What a reply with one client shows. */
  show(clientId: number): Readonly<Record<string, unknown>> {
    const shown: Record<string, unknown> = {};
    for (const { value: part, fault } of this.#parts) {
      try {
        if (part.show) shown[part.name] = part.show(clientId);
      } catch (error) {
        if (error instanceof PanelError) throw error;
        fault(`show of ${part.name}`, error);
      }
    }
    return shown;
  }

  /** Adds the parts to exported items; `ids` are those of their clients, some thousands at most. An export that lacks a part would look whole, so a failure fails it. */
  async addTo(items: readonly object[], ids: readonly number[], isInWrite = false): Promise<void> {
    for (const { value: part } of this.#parts) {
      const values = await part.export(ids, isInWrite);
      for (const [i, id] of ids.entries()) {
        const value = values.get(id);
        if (value !== undefined) Object.assign(items[i] as object, { [part.name]: value });
      }
    }
  }
}

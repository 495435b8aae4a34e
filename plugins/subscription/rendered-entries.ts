// Renders the entries of one client from the compiled ones: as lines of a list, as parts of a document, or as data.
import { type Clock, kernelErrors } from '../../kernel/index.js';
import type { ClientRow } from '../clients/contract.js';
import { completeEntry, type ProxyEntry } from '../inbounds/contract.js';
import type { Compiled } from './compiled.js';
import type { DocumentEntry } from './contract.js';
import type { CompiledEntry } from './entries.js';
import type { RemarkInput } from './remark/tokens.js';

export class RenderedEntries {
  readonly #compiled: Compiled;
  readonly #clock: Clock;

  constructor({ compiled, clock }: { compiled: Compiled; clock: Clock }) {
    this.#compiled = compiled;
    this.#clock = clock;
  }

  /** `host` comes from `hostFor`; `display` selects the names for the panel. */
  lines(format: string, client: ClientRow, host: string, display: boolean): string[] {
    const now = this.#clock.now();
    const rendered: string[] = [];
    for (const entry of this.#compiled.entriesOf(client.inboundIds, client.id)) {
      const write = entry.writers[format];
      if (!write || (entry.hidden && !display)) continue;
      const { server, authority } = entry.place(host);
      const name = display
        ? this.#compiled.remark.display(this.#input(entry, client, now, 'display'))
        : this.#name(entry, client, now, rendered.length === 0);
      const line = write({ client, server, authority, name });
      if (line !== '') rendered.push(line);
    }
    return rendered;
  }

  parts(format: string, client: ClientRow, host: string): DocumentEntry[] {
    const now = this.#clock.now();
    const parts: DocumentEntry[] = [];
    for (const compiled of this.#compiled.entriesOf(client.inboundIds, client.id)) {
      const part = compiled.parts[format];
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

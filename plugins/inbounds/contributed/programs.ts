// Inbounds that a program of its own runs in place of the core: how they are doing, as replies say it.
import type { Contributed, PluginContext } from '../../../kernel/index.js';
import { type ProtocolProgram, ProtocolPrograms } from '../contract.js';
import type { Inbound } from '../fields.js';
import { runsHere } from '../places/places.js';
import type { KnownProtocols } from './known-protocols.js';

export const RUNNING = 'running';
const LONGEST = 1000;
const STOPPED = 'not running: ';

export class Programs {
  readonly #contributions: PluginContext['contributions'];
  readonly #protocols: KnownProtocols;
  #byProtocol: ReadonlyMap<string, Contributed<ProtocolProgram>> | undefined;
  /** programs that fail now: each is reported once, as all replies ask */
  readonly #failing = new Set<string>();

  constructor({
    contributions,
    protocols,
  }: Pick<PluginContext, 'contributions'> & { protocols: KnownProtocols }) {
    this.#contributions = contributions;
    this.#protocols = protocols;
  }

  /** Read at the first use: all plugins have added theirs by then. */
  #of(protocol: string): Contributed<ProtocolProgram> | undefined {
    this.#byProtocol ??= new Map(
      this.#contributions(ProtocolPrograms).map((entry) => [entry.value.protocol, entry]),
    );
    return this.#byProtocol.get(protocol);
  }

  /** Empty where the core or another machine runs the inbound. */
  state(inbound: Inbound): string {
    const { protocol, enable } = inbound;
    if (this.#protocols.get(protocol)?.runBy !== 'program' || !runsHere(inbound)) return '';
    const program = this.#of(protocol);
    if (!program) return `${STOPPED}no program for ${protocol}`;
    return enable ? this.#ask(program, inbound) : `${STOPPED}the inbound is disabled`;
  }

  #ask({ value: program, plugin, fault }: Contributed<ProtocolProgram>, inbound: Inbound): string {
    try {
      const answer: unknown = program.state(inbound);
      if (typeof answer !== 'string' || answer === '')
        throw new Error(`it answered ${typeof answer} instead of a text`);
      this.#failing.delete(plugin);
      return answer.slice(0, LONGEST);
    } catch (error) {
      if (!this.#failing.has(plugin)) fault(`state of the program of ${program.protocol}`, error);
      this.#failing.add(plugin);
      return `${STOPPED}the plugin ${plugin} failed; the log says why`;
    }
  }
}

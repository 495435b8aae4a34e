// Asks the gates of other plugins about a fetch, on both paths, and attributes their failures to those plugins.
import type { IncomingHttpHeaders } from 'node:http';
import { type Contributed, PanelError, type PluginContext } from '../../kernel/index.js';
import type { ClientRow } from '../clients/contract.js';
import { type FetchGate, FetchGates, type GateDecision } from './contract.js';
import { headersProblem } from './shapes.js';

export class Gates {
  readonly #contributions: PluginContext['contributions'];
  /** Gates return the same few lists for all fetches: each is checked once. Only frozen ones stay as they were. */
  readonly #checked = new WeakSet<GateDecision['headers']>();

  constructor({ contributions }: { contributions: PluginContext['contributions'] }) {
    this.#contributions = contributions;
  }

  /** Returns the first refusal, else the headers of all gates; undefined when no gate decides anything. A gate that fails is skipped, as a guard is. */
  check(client: ClientRow, headers: IncomingHttpHeaders): GateDecision | undefined {
    let decision: GateDecision | undefined;
    for (const gate of this.#contributions(FetchGates)) {
      const next = this.#ask(gate, client, headers);
      if (next === undefined) continue;
      if (next.refused) return next;
      decision = decision ? { refused: false, headers: [...decision.headers, ...next.headers] } : next;
    }
    return decision;
  }

  #ask(
    { value, fault }: Contributed<FetchGate>,
    client: ClientRow,
    headers: IncomingHttpHeaders,
  ): GateDecision | undefined {
    try {
      const answer: unknown = value.check(client, headers);
      if (answer === undefined) return undefined;
      const problem = this.#problemOf(answer);
      if (problem === undefined) return answer as GateDecision;
      (answer as { catch?: (ignore: () => void) => void } | null)?.catch?.(() => undefined);
      fault('decision of a gate', new Error(problem));
    } catch (error) {
      // Memory that is being loaded again answers 503, which is no fault.
      if (error instanceof PanelError) throw error;
      fault('check of a gate', error);
    }
    return undefined;
  }

  #problemOf(answer: unknown): string | undefined {
    const { refused, headers } = (answer ?? {}) as GateDecision;
    if (typeof refused !== 'boolean') return 'a decision needs refused, true or false';
    if (this.#checked.has(headers)) return undefined;
    const problem = headersProblem(headers);
    if (problem === undefined && Object.isFrozen(headers)) this.#checked.add(headers);
    return problem;
  }
}

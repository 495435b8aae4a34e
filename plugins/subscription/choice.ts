// Which format a fetch gets: by `?format=`, then by user agent at the standard path, then by path.
import type { AgentChoice, AgentChoices } from './agents/choices.js';
import type { Compiled } from './compiled.js';
import type { Format } from './contract.js';
import { STANDARD_PATH } from './format-paths.js';
import type { Wanted } from './renderer.js';
import { formatIn } from './target.js';

export interface Choice {
  readonly wanted: Wanted;
  readonly isBlocked: boolean;
  /** further headers: name, value, name, value … */
  readonly headers: readonly string[];
  readonly agentChoice: AgentChoice | undefined;
}
const NO_HEADERS: readonly string[] = [];

export class Chooser {
  readonly #compiled: Compiled;
  readonly #choices: AgentChoices;

  constructor({ compiled, agentChoices }: { compiled: Compiled; agentChoices: AgentChoices }) {
    this.#compiled = compiled;
    this.#choices = agentChoices;
  }

  of(format: Format, agent: string, query: URLSearchParams | undefined): Choice {
    const asked = query && this.#served(formatIn(query));
    const agentChoice = this.#choices.of(agent);
    const { isBlocked = false, headers = NO_HEADERS } = agentChoice ?? {};
    if (asked) return { wanted: { formats: [asked], agent }, isBlocked, headers, agentChoice };
    const isStandard = format.pathSetting === STANDARD_PATH;
    const chosen = isStandard ? this.#served(agentChoice?.format) : undefined;
    // A format that can express none of the entries leaves the user without any.
    const formats: Wanted['formats'] = chosen && chosen !== format ? [chosen, format] : [format];
    return { wanted: { formats, agent }, isBlocked, headers, agentChoice };
  }

  #served(name: string | undefined): Format | undefined {
    if (name === undefined) return undefined;
    return this.#compiled.served.find(([, format]) => format.name === name)?.[1];
  }
}

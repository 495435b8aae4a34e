// Asks plugins whether the core may get a part of its config.
import { type Contributed, messageOf, type PluginContext } from '../../kernel/index.js';
import { type CorePart, type PartCheck, PartChecks } from './contract.js';

const PATIENCE_MS = 5_000;
const LONGEST_REASON = 1000;

/** The first reason against a part. A check that fails or hangs is a fault of its plugin, and counts as no reason. */
export class PartProblems {
  readonly #checks: () => readonly Contributed<PartCheck>[];

  constructor({ contributions }: Pick<PluginContext, 'contributions'>) {
    this.#checks = () => contributions(PartChecks);
  }

  async of(part: CorePart): Promise<string | undefined> {
    for (const check of this.#checks()) {
      const reason = await answerOf(check, part);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }
}

async function answerOf(
  { value, fault }: Contributed<PartCheck>,
  part: CorePart,
): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  try {
    const answer = value.problem(part);
    const reason: unknown =
      answer instanceof Promise
        ? await Promise.race([
            answer,
            new Promise((_, reject) => {
              timer = setTimeout(
                () => reject(new Error(`it took longer than ${PATIENCE_MS / 1000} s`)),
                PATIENCE_MS,
              );
            }),
          ])
        : answer;
    if (reason === undefined) return undefined;
    if (typeof reason !== 'string')
      throw new Error(`it returned ${typeof reason} instead of a text or nothing`);
    return reason.slice(0, LONGEST_REASON);
  } catch (error) {
    fault(`check of a part of the core's config`, new Error(messageOf(error), { cause: error }));
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

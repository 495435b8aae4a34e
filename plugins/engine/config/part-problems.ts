// Asks plugins whether the core may get a part of its config.
import { type Contributed, messageOf, type PluginContext } from '../../../kernel/index.js';
import { type CorePart, type PartCheck, PartChecks } from '../contract.js';

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
      const reason = await answerOf(check, () => check.value.problem(part));
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  /** What the part is made of beside itself, as all checks say; undefined for nothing. */
  async madeOf(part: CorePart): Promise<string | undefined> {
    const marks: string[] = [];
    for (const check of this.#checks()) {
      const mark = await answerOf(check, () => check.value.madeOf?.(part));
      if (mark !== undefined) marks.push(mark);
    }
    return marks.length > 0 ? marks.join(' ') : undefined;
  }
}

async function answerOf(
  { fault }: Contributed<PartCheck>,
  ask: () => ReturnType<PartCheck['problem']>,
): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  try {
    const answer = ask();
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

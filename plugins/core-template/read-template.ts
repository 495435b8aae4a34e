// Reads the template that an admin sends: JSON as text or as an object.
import { type Issue, kernelErrors, whyNotJson } from '../../kernel/index.js';
import type { JsonObject } from '../engine/contract.js';

export const FIELD = 'engineSetting';
/** Programs have wrapped what they read in what they wrote. */
const MOST_WRAPPERS = 8;
const WRAPPERS = [FIELD, 'xraySetting'];

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const refuse = (message: string) => {
  const issues: Issue[] = [{ path: FIELD, message: `${FIELD}: ${message}` }];
  return kernelErrors.INVALID(`${FIELD}: ${message}`, { issues });
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw refuse(`this is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

/** Of an indented template: each in the history has them, and each answer. */
const MOST_BLANKS = 2_000_000;
/** Characters that indent this value, two for each level. */
function blanks(value: unknown, level = 1): number {
  if (typeof value !== 'object' || value === null) return 0;
  let sum = 0;
  for (const inner of Object.values(value)) sum += 2 * level + blanks(inner, level + 1);
  return sum;
}

/** Throws KERNEL_INVALID. */
export function readTemplate(sent: unknown): JsonObject {
  let value = sent;
  for (let level = 0; level <= MOST_WRAPPERS; level++) {
    if (typeof value === 'string') value = parsed(value);
    if (!isObject(value)) throw refuse('it must be a JSON object, the config of the core');
    const problem = whyNotJson(value);
    if (problem !== undefined) throw refuse(problem);
    const object = value;
    const wrapper = WRAPPERS.find((key) => key in object);
    if (wrapper === undefined) {
      const characters = blanks(object);
      if (characters <= MOST_BLANKS) return object;
      throw refuse(`it nests so deeply that ${characters} blanks indent it; the most are ${MOST_BLANKS}`);
    }
    value = object[wrapper];
  }
  throw refuse(`it is wrapped in ${FIELD} more than ${MOST_WRAPPERS} times`);
}

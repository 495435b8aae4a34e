// The outbound of an entry that belongs to no client, for the config of a core here.
import type { JsonObject } from '../engine/contract.js';
import type { EntryTemplate, ProxyEntry } from '../inbounds/contract.js';
import type { EntryFill } from '../subscription/contract.js';
import { cannotWrite } from './cannot.js';
import { compileOutbound, LEVEL } from './outbound.js';

const NOTHING_IN_COMMON = { mux: undefined, masks: undefined };

/** Returns the outbound of the core for an entry with all its values, or a sentence that says why there is none. The tag in it is a placeholder. */
export function coreOutbound({ name, ...entry }: ProxyEntry): JsonObject | string {
  const template: EntryTemplate = entry;
  const problem = cannotWrite(template);
  if (problem !== undefined) return problem;
  const { server, port } = entry;
  const authority = `${server.includes(':') ? `[${server}]` : server}:${port}`;
  // Its values are no functions, so no client is asked.
  const client = {} as EntryFill['client'];
  const text = compileOutbound(template, NOTHING_IN_COMMON)({ client, server, authority, name });
  if (text === '') return 'its credentials are empty';
  // The level belongs to the policy of a document.
  return JSON.parse(text, (key, value: unknown) =>
    key === 'level' && value === LEVEL ? undefined : value,
  ) as JsonObject;
}

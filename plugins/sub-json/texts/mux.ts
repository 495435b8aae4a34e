// `subJsonMux`: multiplexing of all entries that have none of their own. Source: xtls.github.io, MuxObject.
import Joi from 'joi';
import type { JsonObject } from '../../engine/contract.js';
import { checked, fields, flag, maybe, parsed, whole } from './json-text.js';

const MUX = fields({
  enabled: flag(),
  concurrency: maybe(whole(-1, 1024)),
  xudpConcurrency: maybe(whole(-1, 1024)),
  xudpProxyUDP443: maybe(Joi.valid('reject', 'allow', 'skip')),
});

/** Undefined where nothing is multiplexed. */
export function readMux(text: string): JsonObject | undefined {
  const value = parsed(text);
  if (value === undefined) return undefined;
  const mux = checked(MUX, value) as JsonObject;
  // The core takes a missing `enabled` for false, but who writes the other fields wants them.
  return mux['enabled'] === false || Object.keys(mux).length === 0 ? undefined : { ...mux, enabled: true };
}

// The shape of what plugins add to the core's config.
import Joi from 'joi';
import { custom, int, jsonRecord, optional, shape, text, word } from '../../kernel/index.js';
import type { CorePart } from './contract.js';
import type { JsonObject } from './driver.js';

/** Checks only what the panel itself relies on; the core checks the rest. */
export const partShape = custom<CorePart>(
  shape({
    inbound: optional(
      shape({
        id: int().min(1),
        tag: word(),
        protocol: word(),
        config: jsonRecord<JsonObject>(),
        accounts: optional(text()),
      }),
    ),
    outbound: optional(jsonRecord<JsonObject>()),
    rule: optional(jsonRecord<JsonObject>()),
    nameServer: optional(custom<string | JsonObject>(Joi.alternatives(word(), jsonRecord<JsonObject>()))),
  }).xor('inbound', 'outbound', 'rule', 'nameServer'),
);

// The shape of what plugins add to the core's config.
import Joi from 'joi';
import { bool, custom, int, jsonRecord, oneOf, optional, shape, text, word } from '../../../kernel/index.js';
import { SECTIONS } from './base-config.js';
import type { CorePart } from '../contract.js';
import type { Json, JsonObject } from '../driver.js';

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
    isDefault: optional(bool()),
    rule: optional(jsonRecord<JsonObject>()),
    looksUp: optional(bool()),
    balancer: optional(jsonRecord<JsonObject>()),
    section: optional(oneOf(...SECTIONS)),
    value: optional(custom<Json>(Joi.alternatives(jsonRecord<JsonObject>(), Joi.array()))),
    nameServer: optional(custom<string | JsonObject>(Joi.alternatives(word(), jsonRecord<JsonObject>()))),
  })
    .xor('inbound', 'outbound', 'rule', 'balancer', 'section', 'nameServer')
    .and('section', 'value'),
);

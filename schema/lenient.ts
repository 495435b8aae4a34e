// Values as programs of the field send them: numbers as text, and null or blank where there is nothing.
import Joi from 'joi';
import type { Typed } from './shape.js';

const lenient = Joi.extend(
  {
    type: 'number',
    base: Joi.number().prefs({ convert: true }),
    coerce: {
      from: ['string', 'object'],
      method: (value: unknown) => (value === '' || value === null ? { value: 0 } : { value }),
    },
  },
  {
    type: 'string',
    base: Joi.string().allow('').prefs({ convert: true }),
    coerce: {
      from: ['object'],
      method: (value: unknown) => ({ value: value ?? '' }),
    },
  },
) as { number(): Joi.NumberSchema; string(): Joi.StringSchema };

/** A safe integer, also as text; blank and null are 0. */
export const lenientInt = () => lenient.number().integer() as Joi.NumberSchema & Typed<number>;
/** Any text, the empty one included; null is the empty one. */
export const lenientText = () => lenient.string() as Joi.StringSchema & Typed<string>;

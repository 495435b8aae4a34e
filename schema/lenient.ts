// Values as programs of the field send them: numbers as text, and null or blank where there is nothing.
import Joi from 'joi';
import type { Typed } from './shape.js';

const lenient = Joi.extend(
  {
    type: 'number',
    base: Joi.number(),
    coerce: {
      from: ['string', 'object'],
      method: (value: unknown) => (value === '' || value === null ? { value: 0 } : { value }),
    },
  },
  {
    type: 'string',
    base: Joi.string().allow(''),
    coerce: {
      from: ['object'],
      method: (value: unknown) => ({ value: value ?? '' }),
    },
  },
) as { number(): Joi.NumberSchema; string(): Joi.StringSchema };

type Validate = (this: Joi.Schema, value: unknown, state: unknown, prefs: object) => unknown;
/** Preferences that convert, by those of the schema around. */
const converting = new WeakMap<object, object>();

// These types always convert. With `prefs` joi would merge its preferences again for every value, even for a missing one:
// a third of the time that a client with its forty fields takes. joi does not publish the method.
for (const schema of [lenient.number(), lenient.string()]) {
  const type = Object.getPrototypeOf(schema) as { $_validate: Validate };
  const validate = type.$_validate;
  type.$_validate = function (value, state, prefs) {
    let own = converting.get(prefs);
    if (!own) converting.set(prefs, (own = { ...prefs, convert: true }));
    return validate.call(this, value, state, own);
  };
}

/** A safe integer, also as text; blank and null are 0. */
export const lenientInt = () => lenient.number().integer() as Joi.NumberSchema & Typed<number>;
/** Any text, the empty one included; null is the empty one. */
export const lenientText = () => lenient.string() as Joi.StringSchema & Typed<string>;

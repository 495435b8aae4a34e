// What a form must know of a field beside its schema: where it stands, who needs it, what makes its value, what a change costs.
import Joi from 'joi';
import type { Setting } from './setting.js';
import { term } from './slices.js';

/** A route that makes a value. */
export interface Generator {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Query of a GET or body of a POST: what to send, by names of fields beside this one. */
  readonly send?: Readonly<Record<string, string>>;
  /** The reply has a list under this key: somebody chooses an item of it by `label`. */
  readonly choose?: { readonly from: string; readonly label: string };
  /** Keys of the reply, or of the chosen item, by the paths of the fields that get their values, beside this one. */
  readonly fills: Readonly<Record<string, string>>;
}
/** Shown only where a field beside this one has one of these values; without `is`, where it has any that is not blank, 0 or false. */
export interface Condition {
  readonly field: string;
  readonly is?: readonly (string | number | boolean)[];
}
export interface Annotation {
  /** a few words; without it, the name of the field in words */
  readonly title?: string;
  /** heading that a form shows it below */
  readonly section?: string;
  readonly level?: 'basic' | 'advanced';
  /** of a number: `bytes`, `GiB`, `seconds`, `days`, `%`, … */
  readonly unit?: string;
  /** shown masked */
  readonly secret?: boolean;
  /** The panel writes it: what is sent is replaced. */
  readonly readOnly?: boolean;
  /** Left out or blank, the panel makes a value when it saves. */
  readonly generated?: boolean;
  /** what a new form begins with, where the schema has no default */
  readonly initial?: unknown;
  readonly generator?: Generator;
  readonly when?: Condition;
  /** the field of which this is another name; forms leave it out */
  readonly aliasOf?: string;
  /** What a change costs: nothing, what the form edits is replaced and its connections are cut, a restart of the core, the next start of the panel. */
  readonly change?: 'none' | 'replace' | 'core' | 'panel';
}

const word = Joi.string().max(200);
const names = Joi.object().pattern(word, word).max(20);
/** Third-party plugins write annotations, too: a mistake shows when the plugin is loaded. */
const AnnotationShape = Joi.object({
  title: word,
  section: word,
  level: Joi.valid('basic', 'advanced'),
  unit: word,
  secret: Joi.boolean(),
  readOnly: Joi.boolean(),
  generated: Joi.boolean(),
  initial: Joi.any(),
  generator: Joi.object({
    method: Joi.valid('GET', 'POST').required(),
    path: word.pattern(/^\/panel\//).required(),
    send: names,
    choose: Joi.object({ from: word.required(), label: word.required() }),
    fills: names.min(1).required(),
  }),
  when: Joi.object({
    field: word.required(),
    is: Joi.array().items(Joi.string().allow(''), Joi.number(), Joi.boolean()).min(1),
  }),
  aliasOf: word,
  change: Joi.valid('none', 'replace', 'core', 'panel'),
});

/** Returns what a schema says of itself, and of schemas that it was made of. */
export const annotationOf = (schema: Joi.Schema): Annotation =>
  Object.assign({}, ...term<{ readonly form?: Annotation }>(schema, 'metas').map(({ form }) => form));

/** Adds to a schema what forms must know. Throws an error that names the mistake. */
export function annotate<S extends Joi.Schema>(schema: S, annotation: Annotation): S {
  Joi.assert(annotation, AnnotationShape, 'an annotation is not valid:');
  return schema.meta({ form: annotation }) as S;
}

/** Puts fields of a shape, or settings, into one section of a form; `others` holds for those that do not say otherwise. */
export const inSection = <F extends Readonly<Record<string, Joi.Schema | Setting>>>(
  section: string,
  fields: F,
  others: Annotation = {},
): F => {
  const within = (schema: Joi.Schema) =>
    annotate(schema, { level: 'basic', ...others, section, ...annotationOf(schema) });
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      Joi.isSchema(field) ? within(field) : { ...field, schema: within(field.schema) },
    ]),
  ) as F;
};

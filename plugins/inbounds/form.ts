// What the fields of inbounds have in common in forms, and forms of values that the core reads.
import Joi from 'joi';
import {
  type Annotation,
  custom,
  inSection,
  int,
  list,
  nullable,
  optional,
  type Schema,
  text,
} from '../../kernel/index.js';

/** The core has no way to change a running inbound: it gets another one in its place, and its connections are cut. */
const REPLACED: Annotation = { change: 'replace' };

/** Fields of an inbound that the core reads, below one heading of a form. */
export const section: typeof inSection = (name, fields, others = {}) =>
  inSection(name, fields, { ...REPLACED, ...others });
/** The same for fields that few need. */
export const advanced: typeof inSection = (name, fields, others = {}) =>
  section(name, fields, { level: 'advanced', ...others });
/** Fields that only the side of clients reads: a change interrupts nobody. */
export const forClients: typeof inSection = (name, fields, others = {}) =>
  inSection(name, fields, { level: 'advanced', change: 'none', ...others });

/** A field of the core's config: null is as if it was left out. */
export const maybe = <S extends Schema>(schema: S) => optional(nullable(schema));
/** A list of texts, or one text with commas (infra/conf/common.go, StringList). */
export const words = () => custom<readonly string[] | string>(Joi.alternatives(list(text()), text()));
/** A number, or two as `from-to` (infra/conf/common.go, Int32Range). */
export const range = () =>
  custom<number | string>(
    Joi.alternatives(
      text().pattern(/^(?:[+-]?\d{1,10}(?:-[+-]?\d{1,10})?)?$/, 'a number, or from-to'),
      int(),
    ),
  );

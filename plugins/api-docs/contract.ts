// JSON Schema 2020-12 of the schemas that plugins declare.
export { Describer, type JsonSchema } from './json-schema.js';

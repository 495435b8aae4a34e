// JSON Schema with the annotations of the panel, and which input a field gets.

type Json = unknown;
export type Values = Readonly<Record<string, Json>>;
export const isRecord = (value: Json): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export interface Generator {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly send?: Readonly<Record<string, string>>;
  readonly choose?: { readonly from: string; readonly label: string };
  readonly fills: Readonly<Record<string, string>>;
}
export interface Words {
  readonly order?: number;
  readonly section?: string;
  readonly level?: 'basic' | 'advanced';
  readonly unit?: string;
  readonly secret?: boolean;
  /** of a secret of the settings: the field that clears it */
  readonly clear?: string;
  /** of a secret of the settings: whether it is set */
  readonly flag?: string;
  readonly generated?: boolean;
  readonly initial?: Json;
  readonly generator?: Generator;
  readonly when?: { readonly field: string; readonly is?: readonly Json[] };
  readonly aliasOf?: string;
  readonly change?: 'none' | 'replace' | 'core' | 'panel';
}
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: Json;
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly required?: readonly string[];
  readonly examples?: readonly Json[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly readOnly?: boolean;
  readonly writeOnly?: boolean;
  readonly 'x-weir'?: Words;
}
/** `json` is for everything that has no input of its own. */
export type Input = 'text' | 'number' | 'boolean' | 'choice' | 'list' | 'object' | 'records' | 'json';

export interface FormField {
  readonly name: string;
  readonly title: string;
  /** the schema of the input: of alternatives, the first that is no blank */
  readonly schema: JsonSchema;
  readonly words: Words;
  readonly input: Input;
  readonly isRequired: boolean;
}

const isBlank = (value: Json): boolean => value === null || value === '';

function isShorthand({ type, const: only, enum: some }: JsonSchema): boolean {
  return type === 'null' || only !== undefined || (some?.every(isBlank) ?? false);
}

/** What remains of alternatives when those that only programs send are left out. */
export function mainOf(schema: JsonSchema): JsonSchema {
  const main = schema.anyOf?.find((alternative) => !isShorthand(alternative));
  if (!main) return schema;
  const { anyOf: _, ...around } = schema;
  const { 'x-weir': inner, ...rest } = mainOf(main);
  return { ...rest, ...around, 'x-weir': { ...inner, ...around['x-weir'] } };
}

const typeOf = ({ type }: JsonSchema): string | undefined =>
  typeof type === 'string' ? type : type?.find((name) => name !== 'null');

const isSimple = (schema: JsonSchema): boolean =>
  ['string', 'number', 'integer'].includes(typeOf(schema) ?? '') && schema.anyOf === undefined;

function listInputOf(item: JsonSchema): Input {
  if (isSimple(item)) return 'list';
  return inputOf(item) === 'object' ? 'records' : 'json';
}

export function inputOf(schema: JsonSchema): Input {
  if (schema.enum)
    return schema.enum.every((value) => typeof value !== 'object' || value === null) ? 'choice' : 'json';
  switch (typeOf(schema)) {
    case 'string':
      return 'text';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array':
      return schema.items ? listInputOf(mainOf(schema.items)) : 'json';
    case 'object':
      return Object.keys(schema.properties ?? {}).length > 0 ? 'object' : 'json';
    default:
      return 'json';
  }
}

/** `maxClients` as `Max clients`. */
export function titleOf(name: string): string {
  const words = name.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').replaceAll(/[_-]+/g, ' ');
  return words === words.toUpperCase() ? words : words.charAt(0).toUpperCase() + words.slice(1);
}

/** The fields of an object in their order, without other names of the same field. */
export function fieldsOf(schema: JsonSchema): FormField[] {
  return Object.entries(schema.properties ?? {})
    .map(([name, declared]) => {
      const own = mainOf(declared);
      return {
        name,
        title: own.title ?? titleOf(name),
        schema: own,
        words: own['x-weir'] ?? {},
        input: inputOf(own),
        isRequired: schema.required?.includes(name) ?? false,
      };
    })
    .filter(({ words, schema: { readOnly } }) => words.aliasOf === undefined && readOnly !== true)
    .sort((a, b) => (a.words.order ?? Infinity) - (b.words.order ?? Infinity) || 0);
}

// What a page does with the schemas: walks fields, begins a form, validates.
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { TestPanel } from '../../../test/harness/index.js';

export interface Words {
  readonly order?: number;
  readonly section?: string;
  readonly level?: string;
  readonly change?: string;
  readonly unit?: string;
  readonly secret?: boolean;
  readonly generated?: boolean;
  readonly aliasOf?: string;
  readonly initial?: unknown;
  readonly generator?: {
    readonly method: string;
    readonly path: string;
    readonly send?: Readonly<Record<string, string>>;
    readonly choose?: { readonly from: string; readonly label: string };
    readonly fills: Readonly<Record<string, string>>;
  };
  readonly when?: { readonly field: string; readonly is?: readonly unknown[] };
}
export interface Form {
  readonly title?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Form>>;
  readonly required?: readonly string[];
  readonly items?: Form;
  readonly anyOf?: readonly Form[];
  readonly default?: unknown;
  readonly 'x-weir'?: Words;
}
export interface ProtocolForm {
  readonly name: string;
  readonly title: string;
  readonly plugin: string;
  readonly runBy: string;
  readonly streams: readonly { readonly network: string; readonly securities: readonly string[] }[];
  readonly settings: Form;
  readonly credential: Form | null;
}
interface Part {
  readonly name: string;
  readonly title: string;
  readonly key: string;
}
export interface TransportForms {
  readonly networks: readonly (Part & { readonly settings: Form })[];
  readonly securities: readonly (Part & {
    readonly networks: readonly string[];
    readonly settings: Form | null;
  })[];
  readonly sockopt: Form;
  readonly finalmask: Form;
  readonly sniffing: Form;
  readonly streamSettings: Form;
}
export interface SettingForms {
  readonly plugins: readonly { readonly name: string; readonly about: string; readonly settings: Form }[];
}

const AT = '/panel/api/x/schemas';
export const protocolsOf = async (panel: TestPanel) =>
  (await panel.get<{ protocols: readonly ProtocolForm[] }>(`${AT}/protocols`)).protocols;
export const inboundFormOf = async (panel: TestPanel) =>
  (await panel.get<{ inbound: Form }>(`${AT}/protocols`)).inbound;
export const transportsOf = (panel: TestPanel) => panel.get<TransportForms>(`${AT}/transports`);
export const settingsOf = (panel: TestPanel) => panel.get<SettingForms>(`${AT}/settings`);

const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
(formats as unknown as { default: (of: Ajv2020) => void }).default(ajv);
ajv.addKeyword('x-weir');

/** Whether the keywords of a schema are those of 2020-12, each with a value of its form. */
export const isSchema = (schema: Form): boolean => ajv.validateSchema(schema) === true;
const compiled = new Map<Form, ReturnType<Ajv2020['compile']>>();
export function faultsOf(schema: Form, value: unknown): string[] {
  let check = compiled.get(schema);
  if (!check) compiled.set(schema, (check = ajv.compile(schema)));
  if (check(value)) return [];
  return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** The alternative that a form has an input for. */
export const inputOf = (field: Form): Form =>
  field.anyOf?.find((one) => !('const' in one) && one.type !== 'null' && !isBlankChoice(one)) ?? field;
const isBlankChoice = (one: Form): boolean =>
  'enum' in one && (one.enum as readonly unknown[]).every((value) => value === '' || value === null);

/** Every field of a form, at all depths, by its path. */
export function* fieldsOf(form: Form, at = ''): Generator<readonly [path: string, field: Form]> {
  for (const [name, field] of Object.entries(form.properties ?? {})) {
    const path = at === '' ? name : `${at}.${name}`;
    yield [path, field];
    const input = inputOf(field);
    yield* fieldsOf(input, path);
    if (input.items) yield* fieldsOf(inputOf(input.items), `${path}[]`);
  }
}

/** What a page shows in a new form: defaults, initial values, and what is required of them. */
export function newForm(form: Form): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(form.properties ?? {})) {
    const words = field['x-weir'] ?? {};
    const preset = field.default ?? words.initial;
    if (words.aliasOf !== undefined) continue;
    if (preset !== undefined) values[name] = preset;
    else if (form.required?.includes(name) && inputOf(field).type === 'object')
      values[name] = newForm(inputOf(field));
  }
  return values;
}

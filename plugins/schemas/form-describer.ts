// JSON Schema of one schema, for forms. A schema of another plugin that cannot be described costs its own form only.
import { type ListenersApi, type Log, messageOf, type Schema } from '../../kernel/index.js';
import { Describer, type JsonSchema } from '../api-docs/contract.js';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

type Words = { readonly generator?: { readonly method: string; readonly path: string } };

export class FormDescriber {
  readonly #listeners: ListenersApi;
  readonly #log: Log;
  readonly #describer: Describer;
  readonly #told = new Set<string>();

  constructor({ listeners, log }: { listeners: ListenersApi; log: Log }) {
    this.#listeners = listeners;
    this.#log = log;
    this.#describer = new Describer((problem) => this.#warn(problem), { forms: true });
  }

  /** A whole document; `at` names the schema in the log. */
  document(schema: Schema, at: string): JsonSchema {
    return { $schema: DIALECT, ...this.part(schema, at) };
  }

  part(schema: Schema, at: string): JsonSchema {
    try {
      return this.#served(this.#describer.describe(schema, at)) as JsonSchema;
    } catch (error) {
      this.#warn(`${at}: ${messageOf(error)}`);
      return {};
    }
  }

  #warn(problem: string): void {
    if (this.#told.has(problem)) return;
    this.#told.add(problem);
    this.#log.warn('a part of a form cannot be described', { problem });
  }

  /** Leaves out generators whose plugin does not run. */
  #served(described: unknown): unknown {
    const routes = new Set(this.#listeners.routes().map(({ route, path }) => `${route.method} ${path}`));
    return JSON.parse(JSON.stringify(described), (key, value: unknown) => {
      if (key !== 'x-weir') return value;
      const { generator, ...words } = value as Words;
      return generator && routes.has(`${generator.method} ${generator.path}`) ? value : words;
    });
  }
}

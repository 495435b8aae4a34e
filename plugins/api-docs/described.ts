// What joi says of a schema.
/** joi's description of a schema, as far as it is used here. */
export interface Described {
  readonly type?: string;
  readonly flags?: {
    readonly presence?: string;
    readonly default?: unknown;
    readonly only?: boolean;
    readonly description?: string;
    readonly unknown?: boolean;
  } & Readonly<Record<string, unknown>>;
  readonly rules?: readonly { readonly name: string; readonly args?: Readonly<Record<string, unknown>> }[];
  readonly allow?: readonly unknown[];
  readonly keys?: Readonly<Record<string, Described>>;
  readonly items?: readonly Described[];
  readonly patterns?: readonly {
    readonly schema?: Described;
    readonly regex?: string;
    readonly rule: Described;
  }[];
  readonly matches?: readonly { readonly schema?: Described }[];
  readonly dependencies?: readonly {
    readonly rel: string;
    readonly key?: string;
    readonly peers: readonly string[];
  }[];
  readonly metas?: readonly Readonly<Record<string, unknown>>[];
  readonly examples?: readonly unknown[];
  /** of booleans: what else stands for true and false */
  readonly truthy?: readonly unknown[];
  readonly falsy?: readonly unknown[];
}

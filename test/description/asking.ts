// Calls the endpoints of one section of the API description and compares each reply with what its table promises.
import type { ExecutionContext } from 'ava';
import type { PanelApi } from '../harness/api.js';
import { compare, fieldsIn, type Shape } from './shape.js';

export interface Described {
  /** fields of the body or of the form that the description names, as `fieldsIn` writes them */
  readonly takes?: readonly string[];
  readonly query?: readonly string[];
  /** `obj` of the reply; `null` where there is none */
  readonly gives: Shape;
  /** the reply is this object itself, without an envelope */
  readonly bare?: boolean;
  /** a list that may be empty on a panel at rest */
  readonly mayBeEmpty?: boolean;
  /** without a session: the login and what it needs */
  readonly open?: boolean;
  /** 202 where the work goes on after the reply */
  readonly status?: number;
}
/** By method and path, as the description writes them. */
export type Section = Readonly<Record<string, Described>>;

export interface Request {
  /** of the placeholders of the path, in their order */
  readonly at?: readonly (string | number)[];
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
  readonly form?: readonly (readonly [string, string])[];
  /** multipart/form-data */
  readonly parts?: FormData;
  readonly headers?: Readonly<Record<string, string>>;
}

export class Asking<Table extends Section> {
  readonly #panel: PanelApi;
  readonly #table: Table;
  readonly #sent = new Map<string, Set<string>>();
  #token = '';
  #compared = 0;

  constructor(panel: PanelApi, table: Table) {
    this.#panel = panel;
    this.#table = table;
  }

  async #bearer(): Promise<Readonly<Record<string, string>>> {
    const body = { name: `description-${Date.now()}` };
    this.#token ||= (
      await this.#panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', { body })
    ).token;
    return { authorization: `Bearer ${this.#token}` };
  }

  /** Calls with the session's cookie; what only reads is called with a token too, and everything once without either, which is refused. */
  async ask<Obj = unknown>(
    t: ExecutionContext,
    name: keyof Table & string,
    request: Request = {},
  ): Promise<Obj> {
    const described = this.#table[name] as Described;
    const [method = '', path = ''] = name.split(' ');
    const rest = [...(request.at ?? [])];
    const filled = path.replaceAll(/\{[^}]+\}/g, () => encodeURIComponent(String(rest.shift() ?? '')));
    const search = new URLSearchParams(
      Object.entries(request.query ?? {}).map(([key, value]) => [key, String(value)]),
    );
    const target = search.size > 0 ? `${filled}?${search}` : filled;
    const sentAs = request.form && { 'content-type': 'application/x-www-form-urlencoded' };
    const options = {
      method,
      headers: { ...sentAs, ...request.headers },
      ...(request.body !== undefined && { body: request.body }),
      ...(request.form && {
        rawBody: new URLSearchParams(request.form.map((pair) => [...pair])).toString(),
      }),
      ...(request.parts && { rawBody: request.parts as never }),
    };
    const isFirst = !this.#sent.has(name);
    const sent = this.#sent.get(name) ?? new Set();
    this.#sent.set(name, sent);
    const fields = request.form
      ? request.form.map(([key]) => key)
      : request.parts
        ? [...request.parts.keys()]
        : fieldsIn(request.body);
    for (const field of fields) sent.add(field);
    for (const key of Object.keys(request.query ?? {})) sent.add(`?${key}`);

    if (isFirst && !described.open) {
      const refused = await this.#panel.call(target, { ...options, anonymous: true });
      t.is(refused.status, 401, `${name} answers nobody: ${refused.text.slice(0, 200)}`);
      t.false(refused.body.success, name);
      t.truthy(refused.body.code, name);
      if (method === 'GET') {
        const headers = { ...request.headers, ...(await this.#bearer()) };
        const answer = await this.#panel.call(target, { ...options, anonymous: true, headers });
        this.#check(t, `${name} with a token`, described, answer);
      }
    }
    const answer = await this.#panel.call<Obj>(target, options);
    this.#check(t, name, described, answer);
    return described.bare ? (JSON.parse(answer.text) as Obj) : answer.body.obj;
  }

  #check(
    t: ExecutionContext,
    name: string,
    { gives, bare = false, mayBeEmpty = false, status: wanted = 200 }: Described,
    { status, text, body }: Awaited<ReturnType<PanelApi['call']>>,
  ): void {
    t.is(status, wanted, `${name}: ${text.slice(0, 300)}`);
    const shape: Shape = bare ? gives : { success: 'boolean', msg: 'text', obj: gives };
    const { compared, differences } = compare(shape, bare ? JSON.parse(text) : body, name);
    t.deepEqual(differences, []);
    if (!bare) t.true(body.success, `${name}: ${text.slice(0, 300)}`);
    if (Array.isArray(gives) && !mayBeEmpty)
      t.true((body.obj as unknown[]).length > 0, `${name} answers with an empty list, which shows nothing`);
    this.#compared += compared;
  }

  /** Every endpoint of the table was called, and every field that it names was sent. */
  end(t: ExecutionContext): void {
    let fields = 0;
    for (const [name, { takes = [], query = [] }] of Object.entries(this.#table)) {
      const sent = this.#sent.get(name);
      t.truthy(sent, `${name} was not called`);
      const wanted = [...takes, ...query.map((key) => `?${key}`)];
      fields += wanted.length;
      t.deepEqual(
        wanted.filter((field) => !sent?.has(field)),
        [],
        `${name}: never sent`,
      );
    }
    t.log(
      `${this.#sent.size} endpoints, ${fields} fields of requests, ${this.#compared} values of replies compared`,
    );
  }
}

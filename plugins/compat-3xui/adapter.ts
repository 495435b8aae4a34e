// The route table as older programs see it: our routes, the same under other names, and endpoints of another shape.
import {
  Answer,
  anything,
  type Clock,
  type Mounted,
  payload,
  type Replays,
  type Route,
  type SessionsApi,
  validate,
  withMessage,
} from '../../kernel/index.js';
import {
  adapted,
  bodyOf,
  type Change,
  handlerOf,
  type Input,
  refusal,
  sentenceOf,
  type Values,
} from './adapted-route.js';
import { reads } from './bodies.js';
import type { BodyHashes } from './body-hashes.js';
import { addedAgain, isCentral, leftBehind } from './centrals.js';
import { recordOf } from './bodies.js';
import { type LoginTokens, requireProgram } from './login-tokens.js';
import { type Call, NAMES } from './names.js';
import { OLD_ENDPOINTS, type OldEndpoint, type Step } from './old-endpoints.js';
import type { OldPrograms } from './old-program.js';
import { type Ask, shapes } from './replies.js';
import { clientErrors, type ClientsApi } from '../clients/contract.js';

type Owned = Pick<Mounted, 'owner' | 'route'>;
type Routes = ReadonlyMap<Call, Mounted>;

const callOf = ({ route, path }: Mounted): Call => `${route.method as 'GET'} ${path as '/'}`;
const partsOf = (call: Call): { method: Route['method']; path: string } => {
  const [method, path] = call.split(' ') as [Route['method'], string];
  return { method, path };
};
/** Without the names of parameters: two calls of one form are the same. */
const formOf = (call: Call): string => call.replaceAll(/\{\w+(\*?)\}/g, '{$1}');
const isSafe = (call: Call): boolean => call.startsWith('GET ');
const namesIn = (path: string): string[] => [...path.matchAll(/\{(\w+)\*?\}/g)].map(([, name = '']) => name);

const ADD: Call = 'POST /panel/api/clients/add';
const UPDATE: Call = 'POST /panel/api/clients/update/{email}';
const DELETE: Call = 'POST /panel/api/clients/del/{email}';
const TAKE_CLIENTS: ReadonlySet<Call> = new Set([
  ADD,
  'POST /panel/api/inbounds/add',
  'POST /panel/api/inbounds/update/{id}',
]);
const ATTACH: Call = 'POST /panel/api/clients/{email}/attach';

/** The same caller with another call. */
const withCall = (input: Input, call: Partial<Input>): Input => ({
  ...input,
  ...call,
  get signal() {
    return input.signal;
  },
  get ignored() {
    return input.ignored;
  },
});

export class Adapter {
  readonly #tokens: LoginTokens;
  readonly #programs: OldPrograms;
  readonly #sessions: SessionsApi;
  readonly #clients: ClientsApi;
  readonly #clock: Clock;
  readonly #replays: Replays | undefined;
  readonly #hashes: BodyHashes;

  constructor(parts: {
    tokens: LoginTokens;
    programs: OldPrograms;
    sessions: SessionsApi;
    clients: ClientsApi;
    clock: Clock;
    replays: Replays | undefined;
    hashes: BodyHashes;
  }) {
    this.#tokens = parts.tokens;
    this.#programs = parts.programs;
    this.#sessions = parts.sessions;
    this.#clients = parts.clients;
    this.#clock = parts.clock;
    this.#replays = parts.replays;
    this.#hashes = parts.hashes;
  }

  /** Everything that older programs can call. A route of ours always wins over another name. */
  serve(mounted: readonly Mounted[]): Owned[] {
    const routes: Routes = new Map(mounted.map((one) => [callOf(one), one]));
    const taken = new Set([...routes.keys()].map(formOf));
    const others: Owned[] = [];
    for (const [call, target] of Object.entries(NAMES) as [Call, Call][]) {
      const found = routes.get(target);
      if (found && !taken.has(formOf(call)))
        others.push({ owner: found.owner, route: this.#named(call, target, found, routes) });
    }
    for (const [call, endpoint] of Object.entries(OLD_ENDPOINTS) as [Call, OldEndpoint][]) {
      const [found, ...rest] = endpoint.needs.map((need) => routes.get(need));
      if (found && rest.every(Boolean) && !taken.has(formOf(call)))
        others.push({ owner: found.owner, route: this.#composed(call, endpoint, found.route, routes) });
    }
    return [...mounted.map((one) => ({ owner: one.owner, route: this.#own(one, routes) })), ...others];
  }

  /** @param name the other name by which it is called */
  #changeOf(call: Call, routes: Routes, name = call): Change {
    const [read, shape] = [this.#readerOf(call, routes), shapes[name] ?? shapes[call]];
    const ask = this.#asking(routes);
    return {
      ...(read && { read }),
      ...(shape && { shape: (obj: unknown, input: Input) => shape(obj, input, ask) }),
    };
  }

  #readerOf(call: Call, routes: Routes): Change['read'] {
    const read = reads[call];
    return read && ((body, input) => read(body, input, this.#asking(routes)));
  }

  #asking(routes: Routes): Ask {
    return async (other, input, params = {}) =>
      (await (await this.#prepared({ call: other, params }, input, routes))()).obj;
  }

  #own(mounted: Mounted, routes: Routes): Route {
    const call = callOf(mounted);
    if (call === 'GET /csrf-token') return this.#tokens.issuing(mounted.route);
    const own = adapted(mounted.route, this.#changeOf(call, routes), this.#programs, this.#hashes);
    if (!TAKE_CLIENTS.has(call) || ![UPDATE, ATTACH, DELETE].every((one) => routes.has(one))) return own;
    return this.#ofCentrals(own, routes);
  }

  /** A central adds a client once for each inbound; here it is attached to the others. */
  #ofCentrals(route: Route, routes: Routes): Route {
    const handle = async (input: Input): Promise<unknown> => {
      if (!isCentral(input)) return handlerOf(route)(input);
      const found = addedAgain(input.body, this.#clients);
      if (!found) {
        await this.#clear(input, routes);
        return handlerOf(route)(input);
      }
      const { email, client, lacking } = found;
      try {
        await this.#hashes.require(input);
        const steps: Step[] = [{ call: UPDATE, params: { email }, body: client }];
        if (lacking.length > 0)
          steps.push({ call: ATTACH, params: { email }, body: { inboundIds: lacking } });
        let said = '';
        for (const step of steps) said = (await (await this.#prepared(step, input, routes))()).msg;
        return withMessage(said, null);
      } catch (error) {
        return refusal(error, input);
      }
    };
    return { ...route, handle: handle as unknown as Route['handle'] };
  }

  /** Deletes what a central has left behind, where it stands in the way of a client that is valid. */
  async #clear(input: Input, routes: Routes): Promise<void> {
    const { client, settings } = (recordOf(input.body) ?? {}) as Values;
    const { clients = [] } = recordOf(settings) ?? {};
    const sent = [client, ...(Array.isArray(clients) ? (clients as unknown[]) : [])];
    const left = leftBehind(sent, this.#clients);
    if (left.length === 0) return;
    await this.#hashes.require(input);
    for (const { email, instead } of left) {
      const add = { call: ADD, body: { client: instead, inboundIds: [1] } };
      const isValid = await this.#prepared(add, input, routes).then(
        () => true,
        () => false,
      );
      // Else the route says what is wrong.
      if (isValid) await (await this.#prepared({ call: DELETE, params: { email } }, input, routes))();
    }
  }

  /** The same route under another method and path. */
  #named(call: Call, target: Call, { route, path }: Mounted, routes: Routes): Route {
    const wanted = namesIn(path);
    const same = adapted(route, this.#changeOf(target, routes, call), 'all', this.#hashes);
    const handle = handlerOf(same);
    return {
      ...same,
      ...partsOf(call),
      params: anything(),
      handle: (async (input: Input) => {
        if (isSafe(call) && !isSafe(target)) requireProgram(input);
        const sent = Object.fromEntries(
          Object.entries(input.params).filter(([name]) => wanted.includes(name)),
        );
        try {
          input.params = route.params ? (validate(route.params, sent, { convert: true }) as Values) : {};
        } catch (error) {
          return refusal(error, input);
        }
        return handle(input);
      }) as unknown as Route['handle'],
    };
  }

  /** An endpoint that is made of calls of our routes. */
  #composed(call: Call, endpoint: OldEndpoint, first: Route, routes: Routes): Route {
    const changes = endpoint.needs.some((need) => !isSafe(need));
    const compose = ((input: Input) => this.#compose(endpoint, input, routes)) as unknown as Route['handle'];
    const composed: Route = {
      ...first,
      ...partsOf(call),
      params: anything(),
      query: undefined,
      body: isSafe(call) ? undefined : anything(),
      form: true,
      beforeBody: undefined,
      reply: payload(anything()),
      handle: compose,
    };
    // Its calls have no key of their own: several with one key would count as different requests.
    const once = isSafe(call) ? composed : (this.#replays?.repeatable(composed) ?? composed);
    const handle = async (input: Input): Promise<unknown> => {
      if (isSafe(call) && changes) requireProgram(input);
      try {
        return await handlerOf(once)(input);
      } catch (error) {
        const { code } = error as { readonly code?: unknown };
        if ('missing' in endpoint && code === clientErrors.NOT_FOUND.code)
          return withMessage('', endpoint.missing);
        return refusal(error, input);
      }
    };
    return { ...composed, handle: handle as unknown as Route['handle'] };
  }

  async #compose(endpoint: OldEndpoint, input: Input, routes: Routes): Promise<unknown> {
    const known = { clients: this.#clients, sessions: this.#sessions, now: this.#clock.now() };
    const { 'idempotency-key': _, ...headers } = input.headers;
    const calls: (() => Promise<{ obj: unknown; msg: string }>)[] = [];
    // All bodies are checked before the first call changes anything.
    for (const step of endpoint.steps(input, known))
      calls.push(await this.#prepared(step, withCall(input, { ...input, headers }), routes));
    const objs: unknown[] = [];
    let said = '';
    for (const run of calls) {
      const { obj, msg } = await run();
      objs.push(obj);
      said = msg;
    }
    return withMessage(said, endpoint.obj ? endpoint.obj(objs) : objs.at(-1));
  }

  /** A call of ours whose parameters and body are checked. */
  async #prepared({ call, params = {}, body = {} }: Step, input: Input, routes: Routes) {
    const route = routes.get(call)?.route as Route;
    // The caller has called another route, which may need less.
    route.permit?.(input.who);
    const own = withCall(input, {
      params: route.params ? (validate(route.params, params, { convert: true }) as Values) : {},
      query: route.query ? validate(route.query, {}, { convert: true }) : {},
      body,
    });
    own.body = await bodyOf(route, this.#readerOf(call, routes), own, true);
    return async () => {
      const result = await handlerOf(route)(own);
      if (route.reply.kind === 'message') return { obj: null, msg: sentenceOf(result) };
      return result instanceof Answer
        ? { obj: result.obj as unknown, msg: result.msg ?? '' }
        : { obj: result, msg: '' };
    };
  }
}

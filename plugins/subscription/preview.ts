// What a user agent would get: for admins who write rules.
import {
  type Clock,
  int,
  kernelErrors,
  mapOf,
  message,
  nullable,
  optional,
  payload,
  type Route,
  route,
  shape,
  text,
  word,
} from '../../kernel/index.js';
import { clientErrors, type ClientsApi } from '../clients/contract.js';
import { patternProblem } from './agents/settings.js';
import { LONGEST_AGENT } from './agents/pattern.js';
import type { Chooser } from './choice.js';
import type { Compiled } from './compiled.js';
import type { Renderer } from './renderer.js';
import { pairsOf, listOf } from './slow-fetch.js';
import { subscriberOf } from './subscriber.js';

const Preview = shape({
  status: int(),
  format: text().description('name of the format; blank for a blocked agent'),
  rule: nullable(int()).description('position in subResponseRules of the rule that matches'),
  headers: mapOf(text()),
  body: text().description('of the named client; blank without one'),
});

export const previewRoutes = ({
  compiled,
  chooser,
  renderer,
  clients,
  clock,
}: {
  readonly compiled: Compiled;
  readonly chooser: Chooser;
  readonly renderer: Renderer;
  readonly clients: ClientsApi;
  readonly clock: Clock;
}): Route[] => [
  route({
    method: 'GET',
    path: '/panel/api/setting/subscriptionPreview',
    name: 'settings.subscriptionPreview',
    doc: 'Returns what a user agent gets from the subscription server: by path of a format, `format` of the query, and rules. It registers no device and no fetch.',
    query: shape({
      agent: optional(text().max(LONGEST_AGENT)),
      path: optional(word().max(64)).description(
        'name of the format whose path is fetched; the standard one',
      ),
      format: optional(word().max(64)).description('the query of the fetch'),
      email: optional(word()).description('a client, to see its headers and its body'),
    }),
    reply: payload(Preview),
    errors: [clientErrors.NOT_FOUND],
    handle: ({ query: { agent = '', path, format, email }, host }) => {
      const served = [...new Set(compiled.served.map(([, one]) => one))];
      const fetched = served.find((one) =>
        path === undefined ? one === compiled.standard : one.name === path,
      );
      // Nobody serves links: a program gets what it gets for any other path.
      if (!fetched && path === undefined)
        return { status: 404, format: '', rule: null, headers: {}, body: '' };
      if (!fetched)
        throw kernelErrors.NOT_FOUND(
          `the format ${path} is not served; ${served.map(({ name }) => name).join(', ') || 'none'} is`,
        );
      const asked = format === undefined ? undefined : new URLSearchParams({ format });
      const { wanted, isBlocked, headers, agentChoice } = chooser.of(fetched, agent, asked);
      const rule = agentChoice?.rule ?? null;
      if (isBlocked) return { status: 404, format: '', rule, headers: {}, body: '' };
      const client = email === undefined ? undefined : clients.byEmail(email);
      if (email !== undefined && !client)
        throw clientErrors.NOT_FOUND(`there is no client ${email}`, { path: 'email' });
      if (!client)
        return {
          status: 200,
          format: wanted.formats[0].name,
          rule,
          headers: Object.fromEntries(pairsOf(headers)),
          body: '',
        };
      const answer = renderer.render(wanted, subscriberOf(clients, client, clock.now()), host);
      return {
        status: 200,
        format: answer.format,
        rule,
        headers: Object.fromEntries(pairsOf([...listOf(answer), ...headers])),
        body: answer.body,
      };
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/setting/validateRegex',
    name: 'settings.validateRegex',
    doc: 'Says in `msg` why a pattern of user agents cannot be used; `msg` is empty when it can.',
    body: shape({ regex: text().max(2048) }).example({ regex: '(?i)(clash|mihomo)' }),
    reply: message(),
    handle: ({ body: { regex } }) => {
      const problem = patternProblem(regex);
      if (problem !== undefined) throw kernelErrors.INVALID(problem, { path: 'regex' });
      return '';
    },
  }),
];

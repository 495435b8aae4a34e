// What a fetch would get, in words for admins.
import { type Clock, int, kernelErrors, mapOf, nullable, text } from '../../kernel/index.js';
import { clientErrors, type ClientsApi } from '../clients/contract.js';
import type { Chooser } from './choice.js';
import type { Compiled } from './compiled.js';
import type { Renderer } from './renderer.js';
import { listOf, pairsOf } from './slow-fetch.js';
import { subscriberOf } from './subscriber.js';

export const previewFields = {
  status: int(),
  format: text().description('name of the format; blank for a blocked agent'),
  rule: nullable(int()).description('position in subResponseRules of the rule that matches'),
  headers: mapOf(text()),
  body: text().description('of the named client; blank without one'),
};
export interface PreviewReply {
  readonly status: number;
  readonly format: string;
  readonly rule: number | null;
  readonly headers: Record<string, string>;
  readonly body: string;
}
/** The fetch that is previewed. */
export interface Asked {
  readonly agent?: string | undefined;
  /** name of the format whose path is fetched; undefined: the standard one */
  readonly path?: string | undefined;
  /** of the query */
  readonly format?: string | undefined;
  readonly email?: string | undefined;
}
export interface PreviewNeeds {
  readonly compiled: Compiled;
  readonly chooser: Chooser;
  readonly renderer: Renderer;
  readonly clients: ClientsApi;
  readonly clock: Clock;
}
const NOTHING = { status: 404, format: '', headers: {}, body: '' };

/** Throws KERNEL_NOT_FOUND for a format that is not served, CLIENTS_NOT_FOUND for an unknown client. Synchronous: a trial of settings runs it. */
export function previewReply(
  { compiled, chooser, renderer, clients, clock }: PreviewNeeds,
  { agent = '', path, format, email }: Asked,
  host: string,
): PreviewReply {
  const served = [...new Set(compiled.served.map(([, one]) => one))];
  const fetched = served.find((one) => (path === undefined ? one === compiled.standard : one.name === path));
  // Nobody serves links: a program gets what it gets for any other path.
  if (!fetched && path === undefined) return { ...NOTHING, rule: null };
  if (!fetched)
    throw kernelErrors.NOT_FOUND(
      `the format ${path} is not served; ${served.map(({ name }) => name).join(', ') || 'none'} is`,
      { path: 'path' },
    );
  const asked = format === undefined ? undefined : new URLSearchParams({ format });
  const { wanted, isBlocked, headers, agentChoice } = chooser.of(fetched, agent, asked);
  const rule = agentChoice?.rule ?? null;
  if (isBlocked) return { ...NOTHING, rule };
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
}

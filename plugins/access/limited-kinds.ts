// API tokens that may call some routes only, by their kind.
import type { IncomingMessage } from 'node:http';
import type { Contributed, PluginContext } from '../../kernel/index.js';
import { type TokenKind, TokenKinds } from './contract.js';
import { errors } from './errors.js';

export class LimitedKinds {
  readonly #contributions: PluginContext['contributions'];

  constructor({ contributions }: { contributions: PluginContext['contributions'] }) {
    this.#contributions = contributions;
  }

  /** Throws TOKEN_KIND for a kind that no plugin adds. */
  requireKnown(kind: string): void {
    const kinds = this.#contributions(TokenKinds).map(({ value }) => value.kind);
    if (kind !== '' && !kinds.includes(kind))
      throw errors.TOKEN_KIND(
        `kind: there is no kind ${JSON.stringify(kind)}; leave it blank for a full admin${kinds.map((one) => `, or send ${one}`).join('')}`,
        { path: 'kind' },
      );
  }

  /** Throws TOKEN_ROUTE unless tokens of this kind may call this; nothing while the plugin of the kind is off or fails. */
  require(kind: string, { method = '', url = '' }: Pick<IncomingMessage, 'method' | 'url'>): void {
    const entry = this.#contributions(TokenKinds).find(({ value }) => value.kind === kind);
    const path = url.split('?', 1)[0] ?? '';
    if (!entry || !mayCall(entry, method, path))
      throw errors.TOKEN_ROUTE(`an API token of the kind ${kind} may not call ${method} ${path}`);
  }
}

function mayCall({ value, fault }: Contributed<TokenKind>, method: string, path: string): boolean {
  try {
    return value.mayCall(method, path) === true;
  } catch (error) {
    fault('mayCall of a TokenKind', error);
    return false;
  }
}

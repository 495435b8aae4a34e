// An API token as a row, as it is asked for and as it is shown.
import { hash } from 'node:crypto';
import type { Row } from '../../kernel/index.js';
import type { TokenFacts } from './contract.js';
import type { tables } from './tables.js';

export type TokenRow = Row<typeof tables.tokens>;
/** What the API shows of a token. */
export type TokenView = Omit<TokenRow, 'digest' | 'roleId' | 'makerId'> & {
  readonly role: number;
  /** name of the admin who made it; blank where that is nobody */
  readonly maker: string;
};
/** A token to create. */
export interface TokenWish {
  readonly name: string;
  readonly expiresAt: number;
  readonly kind?: string;
  readonly role?: number;
  /** id of the admin who makes it; 0: nobody */
  readonly maker?: number;
}

/** With its text, which only its digest is stored of. */
export type NewToken = TokenView & { readonly token: string };

/** Rows that were written, the digest of one that was deleted, or the last uses: Unix seconds by id. */
export type TokenEdit =
  | { readonly rows: readonly TokenRow[] }
  | { readonly deleted: string }
  | { readonly used: ReadonlyMap<number, number> };

/** In one call: a hash object would cost more than the hashing, at every request. */
export const digestOf = (token: string): string => hash('sha256', token);

export const factsOf = ({ id, name, kind, roleId, enabled, expiresAt }: TokenRow): TokenFacts => ({
  id,
  name,
  kind,
  role: roleId,
  enabled,
  expiresAt,
});
/** MariaDB gives 1 and 0 for booleans. */
export const rowOf = (stored: TokenRow): TokenRow => ({ ...stored, enabled: Boolean(stored.enabled) });

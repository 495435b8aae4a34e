// Encrypts secrets in the database with a key that is not in it. For tokens and passwords that the panel must send to
// others, like those of nodes, tunnels and bots. Hash a secret that is only compared.
import { extensionPoint, token } from '../../kernel/index.js';

export { GeneratedSecret } from './generated-secret.js';
export { isSealed } from './sealed-text.js';

/** A column for sealed text. It may also be null or hold text that is not sealed yet. */
export interface SealedColumn {
  /** name in the database: `x_acme_bots` */
  readonly table: string;
  /** primary key; sealed text is bound to its value, so it must not change */
  readonly key: string;
  /** of type `text`: sealed text is a third longer than the secret, plus 80 characters */
  readonly column: string;
}

const NAME = /^[a-z][a-z0-9_]{0,62}$/;
/** Columns that hold sealed text. Sealing for another column throws, because a new key would make that text unreadable. */
export const SealedColumns = extensionPoint<SealedColumn>(
  'secrets',
  'SealedColumns',
  (sealed, { outside, tables }, others) => {
    for (const part of ['table', 'key', 'column'] as const)
      if (typeof sealed[part] !== 'string' || !NAME.test(sealed[part]))
        return `${part} must be a name as the database has it, in small letters`;
    // The prefix alone is not enough: x_acme_bots_… may belong to acme or to acme-bots.
    if (outside && !Object.values(tables).some(({ name }) => name === sealed.table))
      return `the table ${sealed.table} must be one that its plugin declares in \`tables\`, because a third-party plugin can only use its own tables`;
    const other = others.find(({ value }) => value.table === sealed.table && value.column === sealed.column);
    return other && `${sealed.table}.${sealed.column} already exists, in plugin ${other.plugin}`;
  },
);

export interface SecretsApi {
  /** Returns sealed text for the row with this key; it differs at each call. Throws for more than 64 KiB. */
  seal(column: SealedColumn, key: string | number, secret: string): string;
  /**
   * Returns the secret. Throws if the text was changed or cut, belongs to another row, column or plugin, or if its key is
   * missing; the message names table, column and row, and shows neither secret nor key.
   */
  open(column: SealedColumn, key: string | number, sealed: string): string;
}
export const Secrets = token<SecretsApi>('secrets', 'Secrets');

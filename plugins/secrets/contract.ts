// Secrets in the database: sealed with a key that is not in it. For tokens and passwords that the panel has to show to
// others, like those of nodes, tunnels and bots. What only has to be compared is hashed instead.
import { extensionPoint, token } from '../../kernel/index.js';

export { isSealed } from './sealed-text.js';

/** A column that holds sealed text. Rows may also hold nothing there, or text that is not sealed yet. */
export interface SealedColumn {
  /** table and columns as the database calls them: `x_acme_bots`, `bot_token` */
  readonly table: string;
  /** primary key; the sealed text is bound to it, so it never changes */
  readonly key: string;
  /** of type `text`: sealed text is a third longer than the secret, and 80 characters */
  readonly column: string;
}

const NAME = /^[a-z][a-z0-9_]{0,62}$/;
/** Columns that hold sealed text. What is sealed for a column that is not in the list would be lost with the next key, so that it is refused. */
export const SealedColumns = extensionPoint<SealedColumn>(
  'secrets',
  'SealedColumns',
  (sealed, { outside, tables }, others) => {
    for (const part of ['table', 'key', 'column'] as const)
      if (typeof sealed[part] !== 'string' || !NAME.test(sealed[part]))
        return `${part} must be a name as the database has it, in small letters`;
    // Not by the prefix alone: what begins with x_acme_ may be of acme-bots.
    if (outside && !Object.values(tables).some(({ name }) => name === sealed.table))
      return `the table ${sealed.table} must be one that its plugin declares in \`tables\`, because a third-party plugin can only use its own tables`;
    const other = others.find(({ value }) => value.table === sealed.table && value.column === sealed.column);
    return other && `${sealed.table}.${sealed.column} already exists, in plugin ${other.plugin}`;
  },
);

export interface SecretsApi {
  /** Text for the row with this key. The same secret gives another text each time. Throws for more than 64 KiB. */
  seal(column: SealedColumn, key: string | number, secret: string): string;
  /**
   * The secret. Throws where the text was changed or cut, belongs to another row, column or plugin, or where its key is
   * gone; the message names the place and holds nothing of either.
   */
  open(column: SealedColumn, key: string | number, sealed: string): string;
}
export const Secrets = token<SecretsApi>('secrets', 'Secrets');

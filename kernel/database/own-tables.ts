// Inside others' writes a plugin writes its own tables only. Every statement passes here, of a model as well as one that is written out.
import type { Sequelize, Transaction } from 'sequelize';
import type { Owner } from '../plugin/owner.js';

/** As a tap of a during hook holds it; what has begun with it belongs to the write under way. */
export type TapTransaction = Transaction & { finished?: string; check: (statement: string) => void };

const READ = /^\s*SELECT\b/i;
/** Only the forms that write one table, and name it first; a conflict must not end the transaction of others (SQLite, ON CONFLICT). */
const WRITE =
  /^\s*(?:(?:INSERT(?:\s+OR\s+(?!ROLLBACK\b)\w+|\s+IGNORE)?|REPLACE)\s+INTO\s+[`"]?(\w+)[`"]?[\s(]|UPDATE\s+[`"]?(\w+)[`"]?\s+SET\b|DELETE\s+FROM\s+[`"]?(\w+)[`"]?\s*(?:WHERE\b|$))/i;

/** The transaction, for statements that read and for those that write tables which this plugin declares. */
export function onlyOwnTables(transaction: Transaction, { name, plugin }: Owner): TapTransaction {
  const own = Object.values(plugin?.tables ?? {}).map((table) => table.name);
  const check = (statement: string): void => {
    if (READ.test(statement)) return;
    const table = WRITE.exec(statement)?.slice(1).find(Boolean);
    if (table === undefined || !own.includes(table))
      throw new Error(
        `plugin ${name} takes part in a write of another plugin; there it runs SELECT, INSERT INTO, UPDATE … SET and DELETE FROM … WHERE, and writes only what its \`tables\` declare (${own.join(', ') || 'none'}), so not: ${statement.trim().slice(0, 80)}`,
      );
  };
  return Object.assign(Object.create(transaction) as Transaction, { check });
}

/** Has every statement of such a transaction checked; `written` is called before and after each statement of a write. */
export function checked(sequelize: Sequelize, written: () => void): void {
  const query = sequelize.query.bind(sequelize) as (...args: unknown[]) => Promise<never>;
  sequelize.query = async (sql: string | { readonly query: string }, options?: object) => {
    const { transaction } = (options ?? {}) as { readonly transaction?: Partial<TapTransaction> };
    if (!transaction) return query(sql, options);
    transaction.check?.(typeof sql === 'string' ? sql : sql.query);
    written();
    return query(sql, options).finally(written);
  };
}

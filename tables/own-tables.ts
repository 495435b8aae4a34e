// Inside a write of another plugin, a plugin writes only its own tables. Checks every statement, of models and of raw SQL.
import type { Sequelize, Transaction } from 'sequelize';

/** The transaction of a tap in a during hook; statements that have begun with it belong to the running write. */
export type TapTransaction = Transaction & { finished?: string; check: (statement: string) => void };

const READ = /^\s*SELECT\b/i;
/** Only statements that write one table and name it first; a conflict must not end the transaction (SQLite, ON CONFLICT). */
const WRITE =
  /^\s*(?:(?:INSERT(?:\s+OR\s+(?!ROLLBACK\b)\w+|\s+IGNORE)?|REPLACE)\s+INTO\s+[`"]?(\w+)[`"]?[\s(]|UPDATE\s+[`"]?(\w+)[`"]?\s+SET\b|DELETE\s+FROM\s+[`"]?(\w+)[`"]?\s*(?:WHERE\b|$))/i;

/** The transaction, for statements that read and for those that write tables declared by this plugin. */
export function onlyOwnTables(
  transaction: Transaction,
  plugin: string,
  own: readonly string[],
): TapTransaction {
  const check = (statement: string): void => {
    if (READ.test(statement)) return;
    const table = WRITE.exec(statement)?.slice(1).find(Boolean);
    if (table === undefined || !own.includes(table))
      throw new Error(
        `plugin ${plugin} takes part in a write of another plugin; there it may run SELECT, INSERT INTO, UPDATE … SET and DELETE FROM … WHERE, and write only what its \`tables\` declare (${own.join(', ') || 'none'}), so not: ${statement.trim().slice(0, 80)}`,
      );
  };
  return Object.assign(Object.create(transaction) as Transaction, { check });
}

type Run = <T>(statement: () => Promise<T>) => Promise<T>;

/** Replaces `sequelize.query`: statements of a tap's transaction are checked; `writing` runs those with a transaction, `reading` the others. */
export function watchStatements(sequelize: Sequelize, writing: Run, reading: Run): void {
  const query = sequelize.query.bind(sequelize) as (...args: unknown[]) => Promise<never>;
  sequelize.query = async (sql: string | { readonly query: string }, options?: object) => {
    const { transaction } = (options ?? {}) as { readonly transaction?: Partial<TapTransaction> };
    transaction?.check?.(typeof sql === 'string' ? sql : sql.query);
    return (transaction ? writing : reading)(() => query(sql, options));
  };
}

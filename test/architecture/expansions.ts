// Which statements of a migration leave an older panel of the same database working: those that only add.

const CREATE_TABLE = /^CREATE TABLE (?:IF NOT EXISTS )?(\w+)/i;
const CREATE_INDEX = /^CREATE (UNIQUE )?INDEX \w+ ON (\w+)/i;
const ADD_COLUMN = /^ALTER TABLE (\w+) ADD (?:COLUMN )?(\w+) (.*)$/is;
const INSERT = /^INSERT (?:IGNORE )?INTO (\w+)/i;
const UPDATE = /^UPDATE (\w+) SET (\w+) = ([^,]*(?:\([^)]*\))?[^,]*)$/is;
const REFERENCE = /REFERENCES (\w+) \([^)]*\)( ON DELETE (?:CASCADE|SET NULL))?/gi;

/** Of one migration: what it takes from an older panel, statement by statement; empty when it only adds. */
export function contractions(statements: readonly string[]): string[] {
  const tables = new Set<string>();
  const columns = new Set<string>();
  return statements.flatMap((statement) => {
    const problem = contraction(statement.trim(), tables, columns);
    return problem === undefined ? [] : [`${problem}: ${statement}`];
  });
}

function contraction(statement: string, tables: Set<string>, columns: Set<string>): string | undefined {
  const [, created] = CREATE_TABLE.exec(statement) ?? [];
  if (created !== undefined) {
    tables.add(created);
    const holding = [...statement.matchAll(REFERENCE)].find(
      ([, target = '', follows]) => !follows && !tables.has(target),
    );
    return (
      holding && `rows of a table that an older panel does not know keep it from deleting in ${holding[1]}`
    );
  }
  const [, unique, indexed] = CREATE_INDEX.exec(statement) ?? [];
  if (indexed !== undefined)
    return unique && !tables.has(indexed) ? 'an older panel writes what the index refuses' : undefined;
  const [, altered, column, definition = ''] = ADD_COLUMN.exec(statement) ?? [];
  if (altered !== undefined) {
    if (tables.has(altered)) return undefined;
    if (/^(?:UNIQUE|FOREIGN|PRIMARY|CHECK|CONSTRAINT)$/i.test(column ?? ''))
      return 'an older panel writes what this refuses';
    columns.add(`${altered}.${column}`);
    if (/\bNOT NULL\b/i.test(definition) && !/\bDEFAULT\b/i.test(definition))
      return 'an older panel writes no such column; give it a default, or let it be NULL';
    return /\b(?:UNIQUE|REFERENCES)\b/i.test(definition)
      ? 'an older panel writes what the column refuses'
      : undefined;
  }
  const [, filled] = INSERT.exec(statement) ?? [];
  if (filled !== undefined)
    return tables.has(filled) ? undefined : 'an older panel that runs does not read these rows';
  const [, changed, set] = UPDATE.exec(statement) ?? [];
  if (changed !== undefined && (tables.has(changed) || columns.has(`${changed}.${set}`))) return undefined;
  return 'it changes what an older panel uses';
}

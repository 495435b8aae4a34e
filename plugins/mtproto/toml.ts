// Writes TOML (toml.io, version 1.0): every value is quoted or a number, so that none can begin a line of its own.

export type TomlValue = string | number | boolean | readonly string[];
export type TomlTable = Readonly<Record<string, TomlValue | undefined>>;

/** JSON's escapes are TOML's; TOML wants one more character escaped. */
const quoted = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007f');

function written(value: TomlValue): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number') return String(Math.trunc(value));
  return typeof value === 'boolean' ? String(value) : `[${value.map(quoted).join(', ')}]`;
}

const lines = (table: TomlTable): string[] =>
  Object.entries(table).flatMap(([key, value]) =>
    value === undefined ? [] : [`${quoted(key)} = ${written(value)}`],
  );

/** `first` are the keys of the document itself; an undefined value is left out, and a table without values too. */
export function toml(first: TomlTable, tables: Readonly<Record<string, TomlTable>>): string {
  const parts = [lines(first)];
  for (const [name, table] of Object.entries(tables)) {
    const own = lines(table);
    if (own.length > 0) parts.push([`[${quoted(name)}]`, ...own]);
  }
  return `${parts.map((part) => part.join('\n')).join('\n\n')}\n`;
}

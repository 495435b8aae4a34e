// Which server versions are supported, and their collation for exact comparison.

/** Versions with JSON_TABLE and with collations that compare as SQLite does, trailing spaces included. */
const OLDEST = { MariaDB: [10, 6, 0], MySQL: [8, 0, 19] } as const;

/** The collation for exact comparison, which has a different name on each server. */
export function collationOf(version: string): string {
  const product = version.includes('MariaDB') ? 'MariaDB' : 'MySQL';
  const parts = version.split(/[.-]/, 3).map(Number);
  const differing = OLDEST[product].findIndex((part, i) => part !== parts[i]);
  if (differing >= 0 && (parts[differing] ?? 0) < (OLDEST[product][differing] ?? 0))
    throw new Error(
      `it is ${product} ${version}; Weir needs ${product} ${OLDEST[product].join('.')} or newer`,
    );
  return product === 'MariaDB' ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin';
}

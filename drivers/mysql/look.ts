// A connection beside the panel's own, for what is read before a panel starts.
import { type Connection, createConnection } from 'mysql2/promise';

/** Opens it; takes no lock. The caller ends it. */
export async function openToLook(url: URL): Promise<Connection> {
  const [user, password, database] = [url.username, url.password, url.pathname.slice(1)].map(
    decodeURIComponent,
  ) as [string, string, string];
  return createConnection({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 3306),
    user,
    password,
    database,
    connectTimeout: 10_000,
  });
}

/** What the server says where a table or column is not there (yet). */
const MISSING: readonly string[] = ['ER_NO_SUCH_TABLE', 'ER_BAD_FIELD_ERROR'];

/** Resolves with the rows of one SELECT; none where its table or column is not there yet. */
export async function lookAt(
  url: URL,
  statement: string,
  values: readonly string[],
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const connection = await openToLook(url);
  try {
    return (await connection.query(statement, [...values]))[0] as Record<string, unknown>[];
  } catch (error) {
    if (MISSING.includes((error as { readonly code?: string }).code ?? '')) return [];
    throw error;
  } finally {
    await connection.end();
  }
}

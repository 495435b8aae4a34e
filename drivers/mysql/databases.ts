// Databases beside the panel's own, on the same server: one for a restore that is rehearsed, one for what it replaced.
import type { MysqlConnection } from '../../tables/connection.js';
import { lockName } from './lock.js';
import { requireNoMembers } from './members.js';
import { takeLock } from './named-lock.js';
import { requireNobody } from './presence.js';
import { open } from './rows.js';

const LONGEST_NAME = 64;
const nameIn = (url: URL): string => decodeURIComponent(url.pathname.slice(1));
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

function beside(url: URL, ending: string): URL {
  const other = new URL(url);
  other.pathname = `/${encodeURIComponent(nameIn(url).slice(0, LONGEST_NAME - ending.length) + ending)}`;
  return other;
}
const scratchOf = (url: URL): URL => beside(url, '_restore');
const previousOf = (url: URL): URL => beside(url, '_before_restore');

type Server = Awaited<ReturnType<typeof open>>;

async function onServer<T>(url: URL, work: (server: Server) => Promise<T>): Promise<T> {
  const server = await open(url);
  try {
    return await work(server);
  } finally {
    await server.end();
  }
}

async function empty(server: Server, name: string): Promise<void> {
  try {
    await server.query(`DROP DATABASE IF EXISTS ${quoted(name)}`);
    await server.query(`CREATE DATABASE ${quoted(name)}`);
  } catch (cause) {
    throw new Error(
      `the database ${name}, which a restore needs beside the panel's own, cannot be created: ${(cause as Error).message}; grant the panel's user all privileges on it`,
      { cause },
    );
  }
}

async function tablesOf(server: Server, name: string): Promise<string[]> {
  const [rows] = await server.query(
    "SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_TYPE = 'BASE TABLE'",
    [name],
  );
  return (rows as { name: string }[]).map((row) => row.name);
}

/** Creates an empty database for a restore; resolves with its address. */
export async function makeScratch(url: URL): Promise<URL> {
  const scratch = scratchOf(url);
  await onServer(url, (server) => empty(server, nameIn(scratch)));
  return scratch;
}

/** One statement moves all tables: the server does all of it, or nothing. */
async function rename(
  server: Server,
  moves: readonly (readonly [from: string, to: string])[],
): Promise<void> {
  const parts: string[] = [];
  for (const [from, to] of moves)
    for (const table of await tablesOf(server, from))
      parts.push(`${quoted(from)}.${quoted(table)} TO ${quoted(to)}.${quoted(table)}`);
  if (parts.length > 0) await server.query(`RENAME TABLE ${parts.join(', ')}`);
}

/** Puts the tables of the scratch database in the place of the panel's own, which move to a database beside it. Resolves with the name of that one. */
export async function swap(url: URL): Promise<string> {
  const [scratch, previous] = [scratchOf(url), previousOf(url)];
  return onServer(url, async (server) => {
    await empty(server, nameIn(previous));
    await rename(server, [
      [nameIn(url), nameIn(previous)],
      [nameIn(scratch), nameIn(url)],
    ]);
    return nameIn(previous);
  });
}

/** Whether the tables of the scratch database have moved. */
export async function isSwapped(url: URL): Promise<boolean> {
  return onServer(url, async (server) => (await tablesOf(server, nameIn(scratchOf(url)))).length === 0);
}

/** Moves the previous tables back. */
export async function undo(url: URL): Promise<void> {
  await onServer(url, async (server) => {
    await empty(server, nameIn(scratchOf(url)));
    await rename(server, [
      [nameIn(url), nameIn(scratchOf(url))],
      [nameIn(previousOf(url)), nameIn(url)],
    ]);
  });
}

/** Deletes the scratch database. */
export async function discard(url: URL): Promise<void> {
  await onServer(url, (server) => server.query(`DROP DATABASE IF EXISTS ${quoted(nameIn(scratchOf(url)))}`));
}

/** Holds the panel's own database as a running panel does. Rejects if a panel uses it, wherever it runs. */
export async function holdAlone(url: URL): Promise<{ release(): Promise<void> }> {
  const server = await open(url);
  try {
    const { connection } = server as unknown as { readonly connection: MysqlConnection };
    const lock = lockName(nameIn(url));
    if (!(await takeLock(connection, lock)))
      throw new Error(`a panel uses the database ${nameIn(url)}; stop it, or restore while it runs`);
    await requireNoMembers(connection, lock);
    await requireNobody(connection);
    return { release: () => server.end() };
  } catch (error) {
    await server.end();
    throw error;
  }
}

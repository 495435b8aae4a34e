// Databases of 3x-ui for tests: a real one, and copies of it with other rows.
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import sqlite3 from 'sqlite3';
import { folderFor } from '../../../test/harness/folder-for.js';
import type { Answer, TestPanel } from '../../../test/harness/index.js';
import { sourceRoot } from '../../../test/harness/source-root.js';
import type { ImportReport, TableReport } from '../report.js';

const FIXTURE = 'plugins/import-3x-ui/test/fixture';

/** The links that 3x-ui printed, by email. */
export const printedLinks = async (): Promise<Record<string, string[]>> =>
  JSON.parse(await readFile(new URL(`${FIXTURE}/links.json`, await sourceRoot()), 'utf8')) as Record<
    string,
    string[]
  >;

export async function execute(path: string, sql: string): Promise<void> {
  const database = new sqlite3.Database(path);
  try {
    await new Promise<void>((resolve, reject) =>
      database.exec(sql, (error) => (error ? reject(error) : resolve())),
    );
  } finally {
    await new Promise((resolve) => database.close(resolve));
  }
}

export async function query<R>(path: string, sql: string): Promise<R[]> {
  const database = new sqlite3.Database(path, sqlite3.OPEN_READONLY);
  try {
    return await new Promise<R[]>((resolve, reject) =>
      database.all(sql, (error: Error | null, rows: R[]) => (error ? reject(error) : resolve(rows))),
    );
  } finally {
    await new Promise((resolve) => database.close(resolve));
  }
}

/** A copy of the real database, without its write-ahead log, in a folder of the test. */
export async function copyOf(t: ExecutionContext, sql = ''): Promise<string> {
  const path = join(await folderFor(t), 'x-ui.db');
  await copyFile(new URL(`${FIXTURE}/x-ui.db`, await sourceRoot()), path);
  await execute(path, `PRAGMA journal_mode=DELETE; ${sql}`);
  return path;
}

export const CALL = '/panel/api/x/import/3x-ui';

/** Sends the file to the panel. */
export async function send(
  panel: TestPanel,
  path: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<Pick<Answer<ImportReport>, 'status' | 'body'>> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('db', new Blob([await readFile(path)]), 'x-ui.db');
  const encoded = new Response(form);
  return panel.call<ImportReport>(CALL, {
    rawBody: new Uint8Array(await encoded.arrayBuffer()),
    headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
  });
}

export const tableOf = ({ tables }: ImportReport, name: string): TableReport =>
  tables.find(({ table }) => table === name) ?? {
    table: name,
    found: 0,
    taken: 0,
    present: 0,
    changed: [],
    left: [],
  };

/** Tables of which a row is neither taken, nor here, nor left with a reason. */
export const unaccounted = ({ tables }: ImportReport): string[] =>
  tables.flatMap(({ table, found, taken, present, left }) => {
    const sum = taken + present + left.reduce((all, { count }) => all + count, 0);
    return sum === found ? [] : `${table}: ${found} found, ${sum} accounted for`;
  });

export const reasons = (report: ImportReport, table: string): string[] =>
  tableOf(report, table).left.map(({ why }) => why);

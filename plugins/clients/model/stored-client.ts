// One client as the database has it: inside a write, memory may lack the write before it.
import type { Tx } from '../../../kernel/index.js';
import { mergedCredentials } from '../credentials/merged.js';
import { eachCredential } from '../credentials/statements.js';
import { type ClientRow, readRow } from './row.js';
import { readRows } from './stored-rows.js';

const idsIn = (list: string): number[] =>
  list
    .split(',')
    .filter(Boolean)
    .map(Number)
    .sort((a, b) => a - b);

export async function storedClient(tx: Tx, id: number): Promise<ClientRow | undefined> {
  const [found] = await readRows(tx, id - 1, 1);
  if (found?.id !== id) return undefined;
  const row = readRow(found.stored, idsIn);
  await eachCredential(tx, { after: id - 1, upTo: id }, (_, inboundId, credential) => {
    row.credentials = mergedCredentials(row.credentials, new Map([[inboundId, credential]]), []);
  });
  return row;
}

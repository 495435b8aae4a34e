// Sends a copy of the database: as a file, or within an envelope.
import { route, type RequestInfo, type Route, type Streamed, stream } from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import { holdingOpen } from '../outgoing/contract.js';
import { errors } from './errors.js';
import { downloadNameFor } from './file-name.js';
import type { Copy, Snapshots } from './snapshots.js';

/** Most bytes of a copy within JSON. Programs hold such a reply in memory several times. */
const MOST_IN_JSON = 32 * 1024 * 1024;

/** Programs whose HTTP library accepts everything want the file, even if JSON comes first in their list. */
const wantsJson = (accept = ''): boolean => /\bapplication\/json\b/i.test(accept) && !accept.includes('*/*');

async function* untilRead(copy: Copy): AsyncGenerator<Buffer> {
  try {
    yield* copy.pieces();
  } finally {
    await copy.close();
  }
}

async function* asJson(copy: Copy, fileName: string): AsyncGenerator<string> {
  try {
    const facts = JSON.stringify({ fileName, size: copy.bytes, sha256: await copy.sha256() });
    yield `{"success":true,"msg":"","obj":${facts.slice(0, -1)},"data":"`;
    for await (const piece of copy.pieces()) yield piece.toString('base64');
    yield '"}}';
  } finally {
    await copy.close();
  }
}

async function download(
  snapshots: Snapshots,
  audit: AuditTrailApi | undefined,
  input: RequestInfo,
): Promise<Streamed<never>> {
  const fileName = downloadNameFor(input.host, new Date());
  const isJson = wantsJson(input.headers.accept);
  const headers = { headers: { 'Content-Type': 'application/json; charset=utf-8' } as never };
  if (input.method === 'HEAD') return { body: () => [] as never, ...(isJson ? headers : { fileName }) };
  await audit?.act('download', input.who, { name: 'database' });
  const copy = await holdingOpen(input.reply.progressed, () => snapshots.take());
  // A caller who has left before the first piece never reads the stream, and nothing else would close the copy.
  input.signal.addEventListener('abort', () => void copy.close().catch(() => undefined));
  if (input.signal.aborted || (isJson && copy.bytes > MOST_IN_JSON)) {
    await copy.close();
    throw errors.TOO_LARGE();
  }
  return isJson
    ? { body: asJson(copy, fileName), ...headers }
    : { body: untilRead(copy), fileName, length: copy.bytes };
}

const DOC =
  'With `Accept: application/json` alone, an envelope with {fileName, size, sha256, data}, where data is base64; at most 32 MiB.';

export const downloadRoutes = (snapshots: Snapshots, audit: AuditTrailApi | undefined): Route[] => [
  route({
    method: 'GET',
    path: '/panel/api/server/getDb',
    name: 'server.getDb',
    doc: `A copy of the database at this moment, as a SQLite file, whatever database the panel uses. It has the credentials of all clients. ${DOC}`,
    reply: stream('application/octet-stream'),
    errors: [errors.BUSY, errors.NO_PROGRAM, errors.NOT_COPIED, errors.TOO_LARGE],
    handle: (input) => download(snapshots, audit, input),
  }),
  route({
    method: 'GET',
    path: '/panel/api/server/getMigration',
    name: 'server.getMigration',
    doc: `The same file as getDb: it can be restored to a panel on any kind of database. ${DOC}`,
    reply: stream('application/octet-stream'),
    errors: [errors.BUSY, errors.NO_PROGRAM, errors.NOT_COPIED, errors.TOO_LARGE],
    handle: (input) => download(snapshots, audit, input),
  }),
];

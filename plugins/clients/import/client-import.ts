// Imports a list of clients of any size. The body is checked while it is written to a file, so a broken or incomplete one changes nothing. Then its clients are added, portion by portion.
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { inspect, kernelErrors, PanelError, type Principal, TimeSlice } from '../../../kernel/index.js';
import { type Applied, DONE } from '../../engine/contract.js';
import { addValid } from '../edits/add-valid.js';
import { emailKey } from '../model/fields.js';
import { ImportedClient, UsedBytes } from '../model/schema.js';
import type { ClientService, SkippedItem } from '../edits/client-service.js';
import { dataText, decodeUtf8 } from './body-text.js';
import { itemsOf } from './items.js';

/** Bytes. Also the route's `bodyLimit`; here it limits bodies of unknown length. */
export const MAX_IMPORT_BYTES = 256 * 1024 * 1024;
/** Clients of one transaction: a large file must not block the database for seconds. */
const BATCH_SIZE = 1000;
/** Skipped items in the reply: a million of them would be as large as the body. */
const MAX_SKIPPED = 10_000;

export interface Imported {
  readonly created: number;
  readonly skipped: SkippedItem[];
  readonly skippedCount: number;
  readonly applied: Applied;
}

export const importFolder = (dataDirectory: string): string => join(dataDirectory, 'imports');

/** Deletes files that a crash left behind. */
export const deleteStaleImports = (dataDirectory: string): Promise<void> =>
  rm(importFolder(dataDirectory), { recursive: true, force: true });

export class ClientImport {
  readonly #service: ClientService;
  readonly #dataDirectory: string;

  constructor({ service, dataDirectory }: { service: ClientService; dataDirectory: string }) {
    this.#service = service;
    this.#dataDirectory = dataDirectory;
  }

  async run(body: IncomingMessage, who: Principal, ignored: Set<string>): Promise<Imported> {
    refuseUnsupportedBody(body);
    // Between the last byte and the reply the connection is idle, however long that takes.
    body.setTimeout(0);
    const folder = importFolder(this.#dataDirectory);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `${randomUUID()}.json`);
    try {
      await saveAndCheck(body, path);
      return await this.#create(path, who, ignored);
    } finally {
      await rm(path, { force: true });
    }
  }

  async #create(path: string, who: Principal, ignored: Set<string>): Promise<Imported> {
    const options = { ignored, fromElsewhere: true, sharable: new Set<string>() };
    let created = 0;
    let skippedCount = 0;
    let from = 0;
    let applied = DONE;
    const skipped: SkippedItem[] = [];
    const add = async (portion: readonly unknown[]): Promise<void> => {
      const usage = new Map(portion.flatMap(usageIn));
      const result = await addValid(this.#service, portion, who, ImportedClient, { ...options, usage }).catch(
        (error: unknown) => refusedWhole(portion, error),
      );
      created += result.created;
      skippedCount += result.skipped.length;
      skipped.push(
        ...result.skipped
          .slice(0, MAX_SKIPPED - skipped.length)
          .map((entry) => ({ ...entry, index: from + entry.index })),
      );
      if (result.applied.pending) applied = result.applied;
      from += portion.length;
    };
    const slice = new TimeSlice();
    let waiting: unknown[] = [];
    for await (const items of itemsOf(dataText(decodeUtf8(createReadStream(path))))) {
      waiting.push(...items);
      while (waiting.length >= BATCH_SIZE) {
        await slice.next();
        await add(waiting.slice(0, BATCH_SIZE));
        waiting = waiting.slice(BATCH_SIZE);
      }
    }
    if (waiting.length > 0) await add(waiting);
    return { created, skipped, skippedCount, applied };
  }
}

/** What a client used, by the key of its email; of an item that may not be valid, and is then skipped. */
function usageIn(item: unknown): [string, { up: number; down: number }][] {
  const { client, traffic } = (item ?? {}) as { client?: { email?: unknown } | null; traffic?: unknown };
  const used = inspect(UsedBytes, traffic);
  return 'value' in used && typeof client?.email === 'string'
    ? [[emailKey(client.email.trim()), used.value]]
    : [];
}

function refuseUnsupportedBody({ headers }: IncomingMessage): void {
  const {
    'content-type': type = '',
    'content-encoding': encoding = 'identity',
    'content-length': length,
  } = headers;
  const sentNothing = length === '0' || (length === undefined && headers['transfer-encoding'] === undefined);
  if (!sentNothing && !/^application\/(?:[\w.+-]+\+)?json\b/i.test(type))
    throw kernelErrors.UNSUPPORTED_BODY(
      `this endpoint takes JSON, not ${type || 'a body without content-type'}`,
    );
  if (encoding !== 'identity') throw kernelErrors.UNSUPPORTED_BODY('this endpoint takes no compressed body');
}

/** Writes the body to the file and checks all of it. */
async function saveAndCheck(body: IncomingMessage, path: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  let size = 0;
  const passing = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_IMPORT_BYTES) throw kernelErrors.TOO_LARGE('an import may have 256 MiB');
      await file.write(chunk);
      yield chunk;
    }
  };
  try {
    for await (const _ of itemsOf(dataText(decodeUtf8(passing()))));
  } catch (cause) {
    // Callers read the reply after they sent everything, and use the connection again.
    body.resume();
    if (body.destroyed && !body.complete) throw kernelErrors.BAD_BODY('the body was cut off', { cause });
    throw cause;
  } finally {
    await file.close();
  }
}

/** The write of this portion was refused; previous portions stay. */
function refusedWhole(
  portion: readonly unknown[],
  error: unknown,
): { created: number; skipped: SkippedItem[]; applied: Applied } {
  if (!(error instanceof PanelError) || error.status >= 500) throw error;
  const skipped = portion.map((_, index) => ({ index, email: '', reason: error.message, code: error.code }));
  return { created: 0, skipped, applied: DONE };
}

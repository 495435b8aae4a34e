// Remembers what each source sent last, in a file beside the geodata: a file that an admin puts there is not asked about by
// the mark of another one.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, SerialQueue } from '../../kernel/index.js';
import type { AssetFile, AssetFiles } from './asset-files.js';

export interface SourceRecord {
  readonly url: string;
  readonly sha256: string;
  readonly etag: string;
  readonly lastModified: string;
  /** Unix ms */
  readonly fetchedAt: number;
}
type Records = Readonly<Record<string, SourceRecord>>;

/** An address without what may be secret. */
export const shownUrl = (url: string | URL): string => {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
};

const LARGEST = 1024 * 1024;
const isRecord = (value: unknown): value is SourceRecord => {
  const { url, sha256, etag, lastModified, fetchedAt } = Object(value) as Partial<SourceRecord>;
  return (
    [url, sha256, etag, lastModified].every((text) => typeof text === 'string') &&
    URL.canParse(url ?? '') &&
    typeof fetchedAt === 'number'
  );
};

export class SourceRecords {
  readonly #files: AssetFiles;
  readonly #queue = new SerialQueue();

  constructor({ files }: { readonly files: AssetFiles }) {
    this.#files = files;
  }

  get #path(): string {
    return join(this.#files.folder, 'sources.json');
  }

  /** A file that cannot be read counts as none: the next update asks without a condition. */
  async all(): Promise<Records> {
    const text = await readFile(this.#path, 'utf8').catch(() => '');
    if (text === '' || text.length > LARGEST) return {};
    try {
      const records = Object.entries(Object(JSON.parse(text)) as Record<string, unknown>);
      return Object.fromEntries(
        records.filter((entry): entry is [string, SourceRecord] => isRecord(entry[1])),
      );
    } catch {
      return {};
    }
  }

  /** Of the file that is there, if it is the one that this address sent. */
  async of(name: string, url: string, file: AssetFile | undefined): Promise<SourceRecord | undefined> {
    const records = await this.all();
    const record = Object.hasOwn(records, name) ? records[name] : undefined;
    if (!record || !file || record.url !== url) return undefined;
    return (await this.#files.digest(file)) === record.sha256 ? record : undefined;
  }

  save(name: string, record: SourceRecord): Promise<void> {
    return this.#queue.run(async () =>
      replaceFile(this.#path, `${JSON.stringify({ ...(await this.all()), [name]: record })}\n`),
    );
  }
}

// What geodata files hold, page by page; of a category only its own range is read.
import { messageOf, TimeSlice } from '../../kernel/index.js';
import type { AssetFile, AssetFiles } from './asset-files.js';
import { type Category, type DatIndex, itemsOf, readMessage } from './dat-index.js';
import { errors } from './errors.js';
import { type Item, type Kind, readItem } from './items.js';
import { shownUrl, type SourceRecords } from './source-records.js';

export interface Page {
  readonly q: string;
  readonly offset: number;
  readonly limit: number;
}
export interface Listed<T> {
  /** of all that match */
  readonly total: number;
  readonly items: readonly T[];
}

export class Browser {
  readonly #files: AssetFiles;
  readonly #records: SourceRecords;

  constructor({ files, records }: { readonly files: AssetFiles; readonly records: SourceRecords }) {
    this.#files = files;
    this.#records = records;
  }

  async files() {
    const records = await this.#records.all();
    const listed = [];
    for (const file of await this.#files.all()) {
      const [index, problem] = await this.#files.index(file).then(
        (made) => [made, ''] as const,
        (error: unknown) => [undefined, messageOf(error)] as const,
      );
      const sha256 = await this.#files.digest(file).catch(() => '');
      const record = Object.hasOwn(records, file.name) ? records[file.name] : undefined;
      listed.push({
        ...file,
        kind: index?.kind ?? ('' as const),
        categories: index?.categories.size ?? 0,
        sha256,
        source: record?.sha256 === sha256 ? shownUrl(record.url) : '',
        problem,
      });
    }
    return listed;
  }

  async categories(name: string, { q, offset, limit }: Page): Promise<Listed<Category>> {
    const { index } = await this.#open(name);
    const wanted = q.toUpperCase();
    const found = [...index.categories.values()]
      .filter(({ code }) => code.toUpperCase().includes(wanted))
      .sort((a, b) => (a.code < b.code ? -1 : 1));
    return { total: found.length, items: found.slice(offset, offset + limit) };
  }

  async items(name: string, code: string, { q, offset, limit }: Page): Promise<Listed<Item>> {
    const { file } = await this.#open(name);
    const slice = new TimeSlice();
    const wanted = q.toLowerCase();
    return this.#files.open(file.path, async (handle, index) => {
      const category = index.categories.get(code.toUpperCase()) ?? index.categories.get(code);
      if (!category) throw errors.UNKNOWN(`${name} has no category ${code}`, { path: 'code' });
      const message = await readMessage(handle, category);
      const items: Item[] = [];
      const kind: Kind = index.kind ?? 'site';
      let total = 0;
      for (const [begin, end] of itemsOf(message)) {
        if (slice.isOver) await slice.next();
        const isOnPage = total >= offset && items.length < limit;
        if (wanted === '' && !isOnPage) {
          total++;
          continue;
        }
        const item = readItem(message, begin, end, kind);
        if (wanted !== '' && !item.value.toLowerCase().includes(wanted)) continue;
        if (isOnPage) items.push(item);
        total++;
      }
      return { total, items };
    });
  }

  async #open(name: string): Promise<{ readonly file: AssetFile; readonly index: DatIndex }> {
    const file = await this.#files.find(name);
    if (!file) throw errors.UNKNOWN(`there is no file ${name}`, { path: 'file' });
    const index = await this.#files.index(file).catch((cause: unknown) => {
      throw errors.DAMAGED(`${name} cannot be used: ${messageOf(cause)}`, { path: 'file', cause });
    });
    return { file, index };
  }
}

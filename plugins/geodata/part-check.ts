// Keeps parts from the core whose geodata is missing: it would reject the whole config.
import type { CorePart, PartCheck } from '../engine/contract.js';
import type { AssetFiles } from './asset-files.js';
import { geoValues, tokenOf } from './token.js';
import type { Kind } from './items.js';

export class GeodataCheck implements PartCheck {
  readonly #files: AssetFiles;
  /** problems that were found since `forget` */
  readonly problems = new Set<string>();

  constructor({ files }: { readonly files: AssetFiles }) {
    this.#files = files;
  }

  forget(): void {
    this.problems.clear();
  }

  async problem(part: CorePart): Promise<string | undefined> {
    for (const [text, kind] of geoValues(part)) {
      const problem = await this.ofToken(text, kind);
      if (problem === undefined) continue;
      const sentence = `${text}: ${problem}`;
      this.problems.add(sentence);
      return sentence;
    }
    return undefined;
  }

  /** Names the present contents of the files that the part needs. */
  async madeOf(part: CorePart): Promise<string | undefined> {
    const names = new Set<string>();
    for (const [text, kind] of geoValues(part)) {
      const token = tokenOf(text, kind);
      if (typeof token === 'object') names.add(token.file);
    }
    if (names.size === 0) return undefined;
    const files = await Promise.all([...names].sort().map((name) => this.#files.find(name)));
    return files.map((file) => (file ? `${file.name} ${file.size} ${file.mtime}` : '')).join(' ');
  }

  /** Undefined also for a text that names no geodata. */
  async ofToken(text: string, kind: Kind | undefined): Promise<string | undefined> {
    if (kind === 'ip' && /^(?:geosite|ext-domain):/.test(text))
      return 'it stands for domains, among addresses';
    // Among domains the core takes it for a keyword, which no domain has.
    if (kind === 'site' && /^(?:geoip|ext-ip):/.test(text)) return 'it stands for addresses, among domains';
    const token = tokenOf(text, kind);
    if (typeof token !== 'object') return token;
    return this.#files.problem(token.file, token.code, token);
  }
}

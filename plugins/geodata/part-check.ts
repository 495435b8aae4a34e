// Keeps parts from the core whose geodata is missing: it would reject the whole config.
import type { CorePart, PartCheck } from '../engine/contract.js';
import type { AssetFiles } from './asset-files.js';
import { geoValues, tokenOf } from './token.js';
import type { Kind } from './items.js';

export class GeodataCheck implements PartCheck {
  readonly #files: AssetFiles;
  /** names of files that parts of the config named since `forget` */
  readonly named = new Set<string>();
  /** problems that were found since `forget` */
  readonly problems = new Set<string>();

  constructor({ files }: { readonly files: AssetFiles }) {
    this.#files = files;
  }

  forget(): void {
    this.named.clear();
    this.problems.clear();
  }

  async problem(part: CorePart): Promise<string | undefined> {
    for (const [text, kind] of geoValues(part)) {
      const problem = await this.ofToken(text, kind, (file) => this.named.add(file));
      if (problem === undefined) continue;
      const sentence = `${text}: ${problem}`;
      this.problems.add(sentence);
      return sentence;
    }
    return undefined;
  }

  /** Undefined also for a text that names no geodata. */
  async ofToken(
    text: string,
    kind: Kind | undefined,
    onFile: (file: string) => void = () => undefined,
  ): Promise<string | undefined> {
    if (kind === 'ip' && /^(?:geosite|ext-domain):/.test(text))
      return 'it stands for domains, among addresses';
    // Among domains the core takes it for a keyword, which no domain has.
    if (kind === 'site' && /^(?:geoip|ext-ip):/.test(text)) return 'it stands for addresses, among domains';
    const token = tokenOf(text, kind);
    if (typeof token !== 'object') return token;
    onFile(token.file);
    return this.#files.problem(token.file, token.code, token);
  }
}

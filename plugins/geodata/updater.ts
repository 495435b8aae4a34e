// Updates of geodata: one at a time; the core gets those parts of its config again that name a file that has changed.
import { type Log, PanelError } from '../../kernel/index.js';
import type { EngineApi } from '../engine/contract.js';
import type { LiveOutput } from '../realtime/contract.js';
import type { AssetFiles } from './asset-files.js';
import { errors } from './errors.js';
import type { GeodataCheck } from './part-check.js';
import type { Fetched, SourceFetcher } from './source-fetcher.js';

const USUAL = ['geoip.dat', 'geosite.dat'];

export interface Updated {
  readonly files: readonly Fetched[];
  /** whether the core restarted to read a changed file; rules read it without that */
  readonly restarted: boolean;
  /** parts of the config that the core does without now, because of geodata */
  readonly problems: readonly string[];
  /** why the core does not use the changed files yet, though it should; else empty */
  readonly pending: string;
}

interface Needs {
  readonly log: Log;
  readonly engine: EngineApi;
  readonly files: AssetFiles;
  readonly fetcher: SourceFetcher;
  readonly check: GeodataCheck;
}

export class Updater {
  readonly #needs: Needs;
  /** undefined while no plugin sends live messages */
  output: LiveOutput | undefined;
  #isBusy = false;

  constructor({ log, engine, files, fetcher, check }: Needs) {
    this.#needs = { log, engine, files, fetcher, check };
  }

  /** Without a name: geoip.dat, geosite.dat, and all others with a source that are here already. */
  async update(name?: string): Promise<Updated> {
    if (this.#isBusy) throw errors.BUSY();
    this.#isBusy = true;
    try {
      const names = name === undefined ? await this.#all() : [name];
      const files: Fetched[] = [];
      const failed: PanelError[] = [];
      for (const one of names) {
        try {
          files.push(await this.#needs.fetcher.update(one));
        } catch (error) {
          if (!(error instanceof PanelError)) throw error;
          this.#needs.log.warn('a geodata file is not updated', { file: one, reason: error.message });
          failed.push(error);
        }
      }
      const applied = await this.#apply(files);
      const [first] = failed;
      // What has changed is in force all the same.
      if (first) {
        const done = files.map((file) => `${file.name} is ${file.changed ? 'updated' : 'unchanged'}`);
        throw names.length === 1
          ? first
          : errors.DOWNLOAD([...failed.map(({ message }) => message), ...done].join('; '), { cause: first });
      }
      return { files, ...applied };
    } finally {
      this.#isBusy = false;
    }
  }

  async #all(): Promise<string[]> {
    const { files, fetcher } = this.#needs;
    const here = (await files.all()).map(({ name }) => name);
    return Object.keys(fetcher.sources).filter((name) => USUAL.includes(name) || here.includes(name));
  }

  async #apply(fetched: readonly Fetched[]): Promise<Omit<Updated, 'files'>> {
    const changed = fetched.filter((file) => file.changed).map(({ name }) => name);
    if (changed.length === 0) return { restarted: false, problems: [], pending: '' };
    const { engine, check, log } = this.#needs;
    log.info('geodata has changed', { files: changed });
    this.output?.invalidate('geodata');
    // Composes the config, so the check sees all parts; one that may be used now, or no more, changes the config.
    check.forget();
    const { startedAt } = engine.status();
    const { reason } = await engine.reconcileConfig();
    const problems = [...check.problems];
    if (engine.status().startedAt !== startedAt) return { restarted: true, problems, pending: '' };
    // The first part that is left out is the reason too.
    const isKnown = problems.some((problem) => reason.includes(problem));
    return { restarted: false, problems, pending: isKnown ? '' : reason };
  }
}

// One install at a time: finds the version, checks what was downloaded, has the engine try it, tidies up.
import { messageOf, PanelError, type Log } from '../../kernel/index.js';
import {
  CORE_VERSION,
  CoreRefused,
  type CoreProgramsApi,
  type EngineApi,
  PROGRAM,
  unzip,
} from '../engine/contract.js';
import type { CoreStore, InstalledCore } from './core-store.js';
import { errors } from './errors.js';
import type { InstallProgress } from './progress.js';
import type { ReleaseList } from './release-list.js';
import type { ReleaseSource } from './release-source.js';
import { versionOf } from './version.js';

const LARGEST_PROGRAM = 150 * 1024 * 1024;
const MOST_KEPT = 3;
const BY_VARIABLE = 'WEIR_ENGINE_SHA256';
const BY_REQUEST = 'request';

export interface Installed extends InstalledCore {
  /** false: it was installed before, and nothing was downloaded */
  readonly downloaded: boolean;
  /** false: it ran already */
  readonly restarted: boolean;
  /** versions that made room */
  readonly removed: readonly string[];
}

interface Needs {
  readonly log: Log;
  readonly engine: EngineApi;
  readonly programs: CoreProgramsApi | undefined;
  readonly store: CoreStore;
  readonly source: ReleaseSource;
  readonly list: ReleaseList;
  readonly progress: InstallProgress;
}

export class Installer {
  readonly #needs: Needs;
  #isBusy = false;

  constructor({ log, engine, programs, store, source, list, progress }: Needs) {
    this.#needs = { log, engine, programs, store, source, list, progress };
  }

  /** @param wanted a tag, a version or `latest`; `sha256` of the archive, given by the caller */
  async install(wanted: string, sha256 = ''): Promise<Installed> {
    const programs = this.#requirePrograms();
    if (this.#isBusy) throw errors.BUSY(`core ${this.#needs.progress.now?.version ?? ''} is being installed`);
    this.#isBusy = true;
    const { progress, log } = this.#needs;
    progress.begin(versionOf(wanted) ?? '');
    try {
      const installed = await this.#install(programs, wanted, sha256.toLowerCase());
      progress.change({ step: 'done' });
      log.info('another core is installed', {
        version: installed.version,
        digestFrom: installed.digestFrom,
        downloaded: installed.downloaded,
      });
      return installed;
    } catch (error) {
      const refusal = refusalOf(error);
      progress.change({ step: 'failed', error: refusal.message });
      log.warn('the install of another core failed', { wanted, reason: refusal.message });
      throw refusal;
    } finally {
      this.#isBusy = false;
    }
  }

  #requirePrograms(): CoreProgramsApi {
    const { programs } = this.#needs;
    if (!programs) throw errors.PINNED('this engine has a core that cannot be replaced');
    const { program } = programs.source;
    if (program !== '')
      throw errors.PINNED(
        `WEIR_ENGINE_BIN names the core (${program}); remove the variable and restart the panel to install others`,
      );
    return programs;
  }

  async #install(programs: CoreProgramsApi, wanted: string, sha256: string): Promise<Installed> {
    const { store, progress, engine } = this.#needs;
    const version = await this.#versionOf(wanted);
    progress.change({ version });
    const kept = await store.sound(version);
    const { chosen } = await programs.choice();
    const { state, version: running } = engine.status();
    if (kept && chosen === version && running === version && state === 'running')
      return { ...kept, downloaded: false, restarted: false, removed: [] };
    const core = kept ?? (await this.#download(programs, version, sha256));
    const before = running;
    // The core that runs now can be returned to, also when its program is removed from where it was found.
    const { present } = programs;
    if (
      present &&
      before !== '' &&
      present.source !== 'installed' &&
      before !== version &&
      !(await store.sound(before))
    )
      await store.adopt(present.binary, before).catch((cause: unknown) => {
        throw errors.ARCHIVE(`the present core cannot be kept in the data folder: ${messageOf(cause)}`, {
          cause,
        });
      });
    await programs
      .use(version, (step) => progress.change({ step }))
      .catch(async (error: unknown) => {
        // What does not serve is not listed as installed.
        if (!kept) await store.remove(version).catch(() => undefined);
        throw error;
      });
    const { previous } = await programs.choice();
    const removed = await store.prune([version, previous, CORE_VERSION], MOST_KEPT).catch(() => []);
    return { ...core, downloaded: kept === undefined, restarted: true, removed };
  }

  /** An installed version needs no list: it can be returned to without the network. */
  async #versionOf(wanted: string): Promise<string> {
    const { list, store } = this.#needs;
    const version = versionOf(wanted);
    if (version !== undefined && (await store.all()).some((core) => core.version === version)) return version;
    const releases = await list.ask();
    if (wanted === 'latest') {
      const latest = releases.find(({ isPrerelease }) => !isPrerelease) ?? releases[0];
      if (latest) return latest.version;
    }
    if (version === undefined || !releases.some((release) => release.version === version))
      throw errors.UNKNOWN(`${wanted} is not among the releases of the core; see getEngineVersion`, {
        path: 'version',
      });
    return version;
  }

  async #download(programs: CoreProgramsApi, version: string, sha256: string): Promise<InstalledCore> {
    const { source, progress, store } = this.#needs;
    if (!programs.source.mayDownload)
      throw errors.PINNED(
        'WEIR_ENGINE_INSTALL=off forbids downloads of cores; installed versions can be used',
      );
    progress.change({ step: 'digest' });
    const pinned = version === CORE_VERSION ? programs.source.sha256 : '';
    const expected = sha256 || pinned || (await source.digest(version));
    const digestFrom = sha256 ? BY_REQUEST : pinned ? BY_VARIABLE : `${source.name}, .dgst`;
    progress.change({ step: 'download' });
    const archive = await source.archive(version, (received, size) => progress.change({ received, size }));
    if (archive.digest !== expected)
      throw errors.ARCHIVE(
        `the archive of core ${version} has the SHA-256 ${archive.digest}, but ${digestFrom} says ${expected}`,
      );
    progress.change({ step: 'unpack' });
    try {
      const program = await unzip(archive.bytes, PROGRAM, LARGEST_PROGRAM);
      return await store.place(program, { version, source: source.name, digestFrom });
    } catch (cause) {
      throw errors.ARCHIVE(`the archive of core ${version} cannot be used: ${messageOf(cause)}`, { cause });
    }
  }
}

function refusalOf(error: unknown): PanelError {
  if (error instanceof PanelError) return error;
  const reason = messageOf(error);
  return error instanceof CoreRefused
    ? errors.REFUSED(`the core was not changed: ${reason}`, { cause: error })
    : errors.FAILED(`the core was not changed: ${reason}`, { cause: error });
}

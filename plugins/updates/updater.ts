// One update after another: the package is downloaded and verified here, and root installs it (`weir-update.service`).
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, type Hooks, type Log, messageOf, replaceFile } from '../../kernel/index.js';
import { updateEnded } from './contract.js';
import { errors } from './errors.js';
import { FILES, FOLDER, readRequest, type UpdateOutcome, type UpdateRequest } from './exchange-files.js';
import type { SignedIndex } from './index-source.js';
import type { PackageDownload } from './package-download.js';
import { fileFor, platformHere, type Release } from './release-index.js';
import type { ThisInstallation } from './this-installation.js';
import { INSTALL_MS, type UpdateChoice, type Wish } from './update-choice.js';
import type { Run, UpdateRun } from './update-run.js';

/** systemd starts the service within a second; it may wait for another upgrade that runs. */
const ANSWER_MS = 5 * 60_000;
const ASK_AGAIN_MS = 15_000;
const LOOK_MS = 1_000;

interface Needs {
  readonly choice: UpdateChoice;
  readonly installation: ThisInstallation;
  readonly download: PackageDownload;
  readonly run: UpdateRun;
  readonly hooks: Hooks;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly dataDirectory: string;
}

async function writeWhole(path: string, bytes: Uint8Array | string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

export class Updater {
  readonly #needs: Needs;
  readonly #folder: string;
  #isBusy = false;
  #looking: Promise<void> | undefined;
  #askedAt = 0;
  /** bytes of the package that have arrived */
  received = 0;

  constructor(needs: Needs) {
    this.#needs = needs;
    this.#folder = join(needs.dataDirectory, FOLDER);
  }

  /** Goes on with an update that the previous panel began. */
  async start(): Promise<void> {
    const { run } = this.#needs;
    await run.load();
    const { last } = run;
    if (last?.state !== 'pending') return;
    const isAsked = last.step === 'install' || (await this.#requested()) === last.runId;
    // Root may have answered while no panel ran.
    if (!isAsked && (await this.#needs.installation.outcome())?.runId !== last.runId)
      return this.#end(
        last,
        1,
        'the panel stopped before root was asked; start the update again, and the download goes on',
      );
    this.#isBusy = true;
    void this.#watch();
  }

  /** The run of the last request; undefined without one. */
  async #requested(): Promise<string | undefined> {
    const content = await readFile(join(this.#folder, FILES.request), 'utf8').catch(() => '');
    return readRequest(content)?.runId;
  }

  /** Resolves when the update is under way. `record` is called when nothing speaks against it. */
  async begin(wish: Wish, record: (version: string) => Promise<void>): Promise<Run> {
    if (this.#isBusy)
      throw errors.BUSY(`an update to ${this.#needs.run.last?.version ?? 'another version'} is under way`);
    this.#isBusy = true;
    try {
      const { installation, run, clock } = this.#needs;
      const from = await installation.version();
      const { signed, release } = await this.#needs.choice.make(wish, from);
      await record(release.version);
      const now = clock.now();
      const begun = await run
        .save({
          // Nanoseconds, as older programs have it; unique because one update runs at a time.
          runId: `${BigInt(now) * 1_000_000n + (process.hrtime.bigint() % 1_000_000n)}`,
          state: 'pending',
          step: 'download',
          version: release.version,
          from,
          startedAt: now,
          askedAt: 0,
          finishedAt: 0,
          exitCode: 0,
          reason: '',
        })
        .catch((cause: unknown) => {
          throw errors.NOT_RECORDED(messageOf(cause), { cause });
        });
      void this.#perform(begun, signed, release);
      return begun;
    } catch (error) {
      this.#isBusy = false;
      throw error;
    }
  }

  /** Never rejects: nobody waits for it. */
  async #perform(begun: Run, signed: SignedIndex, release: Release): Promise<void> {
    const { run, download, clock, log, signal } = this.#needs;
    try {
      this.received = 0;
      await rm(join(this.#folder, FILES.request), { force: true });
      log.info('the update of the panel begins', {
        version: begun.version,
        from: begun.from,
        run: begun.runId,
      });
      const file = fileFor(release, platformHere());
      if (!file) throw new Error('it has no package for this machine');
      await download.fetch(file, (received) => (this.received = received));
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await writeWhole(join(this.#folder, FILES.index), signed.bytes);
      await writeWhole(join(this.#folder, FILES.signature), signed.signature);
      const askedAt = clock.now();
      await run.save({ ...begun, step: 'hand over', askedAt });
      await this.#ask({ runId: begun.runId, version: begun.version, at: askedAt });
    } catch (error) {
      // A stop of the panel is no failure of the update; the next panel says what happened.
      if (!signal.aborted) await this.#end(begun, 1, messageOf(error));
      return;
    }
    await this.#watch();
  }

  /** systemd starts the service of root for this file. */
  async #ask(request: UpdateRequest): Promise<void> {
    this.#askedAt = this.#needs.clock.now();
    await replaceFile(join(this.#folder, FILES.request), `${JSON.stringify(request)}\n`, 0o600);
  }

  /** Waits for root. */
  async #watch(): Promise<void> {
    const { run, signal, log } = this.#needs;
    while (!signal.aborted && run.last?.state === 'pending') {
      await this.look().catch((error: unknown) =>
        log.warn('the state of the update cannot be read', { reason: messageOf(error) }),
      );
      await sleep(LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Brings the record up to date with what root has done. */
  look(): Promise<void> {
    return (this.#looking ??= this.#look().finally(() => (this.#looking = undefined)));
  }

  async #look(): Promise<void> {
    const { run, installation, clock } = this.#needs;
    const { last } = run;
    if (!last || last.askedAt === 0 || last.state === 'success') return;
    const outcome = await installation.outcome();
    // The next update may have begun meanwhile, and has its own record.
    if (run.last !== last || (last.state === 'failed' && this.#isBusy)) return;
    const answer = outcome?.runId === last.runId ? outcome : undefined;
    if (answer && answer.state !== 'running') return this.#settle(last, answer);
    if (last.state === 'failed') return;
    const now = clock.now();
    if (answer && last.step !== 'install') await run.save({ ...last, step: 'install' });
    // Once root has begun, its file may be missing for a moment: it is being replaced.
    if (answer || last.step === 'install') {
      if (now - (answer?.at ?? last.askedAt) > INSTALL_MS)
        await this.#end(last, 1, 'the installation does not end; as root see `journalctl -u weir-update`');
    } else if (now - last.askedAt > ANSWER_MS)
      await this.#end(
        last,
        1,
        'root did not begin the installation; as root see `systemctl status weir-update.path weir-update`',
      );
    // systemd misses a change that comes while the service ends, or while no path unit is there.
    else if (now - this.#askedAt > ASK_AGAIN_MS)
      await this.#ask({ runId: last.runId, version: last.version, at: last.askedAt });
  }

  async #settle(last: Run, answer: UpdateOutcome): Promise<void> {
    // A late answer to an update that was given up counts as well.
    if (last.state === 'failed' && last.finishedAt === answer.finishedAt) return;
    await this.#end(
      last,
      answer.state === 'success' ? 0 : answer.exitCode || 1,
      answer.reason,
      answer.finishedAt,
    );
  }

  async #end(last: Run, exitCode: number, reason: string, at = this.#needs.clock.now()): Promise<void> {
    const { run, hooks, log } = this.#needs;
    const isDone = exitCode === 0;
    // A late answer to an update that was given up must not end one that is about to begin.
    const isLate = last.state === 'failed';
    try {
      // First: who sees the end may begin the next update at once.
      for (const name of isLate ? [] : [FILES.request, FILES.package])
        await rm(join(this.#folder, name), { force: true });
      await run.save({
        ...last,
        state: isDone ? 'success' : 'failed',
        step: 'done',
        finishedAt: at,
        exitCode,
        reason: isDone ? '' : reason || 'no reason was given',
      });
    } catch (error) {
      log.error('the end of the update cannot be recorded', { reason: messageOf(error), run: last.runId });
      run.last = {
        ...last,
        state: isDone ? 'success' : 'failed',
        step: 'done',
        finishedAt: at,
        exitCode,
        reason,
      };
    } finally {
      if (!isLate) this.#isBusy = false;
    }
    const { runId, from, version } = last;
    if (isDone) log.info('the panel is updated', { version, from, run: runId });
    else log.error('the update of the panel failed', { version, from, run: runId, problem: reason });
    hooks.emit(updateEnded, { runId, from, version, isDone, reason: isDone ? '' : reason });
  }
}

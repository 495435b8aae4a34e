// The loop of `weir dev`: a change, a build, another process for the panel; the core outlives them all.
import { messageOf } from '../../kernel/errors/errors.js';
import { forgetPluginEnds } from '../../panel/plugin-ends.js';
import type { Environment } from '../../panel/variables.js';
import type { Terminal } from '../../plugins/command-line/run.js';
import { Builder } from './builder.js';
import { endCore } from './core.js';
import { PanelChild } from './panel-child.js';
import { type Project, prepare } from './project.js';
import { changed, snapshot } from './snapshot.js';

interface Asked extends Terminal {
  readonly env: Environment;
  /** folder of a plugin; this tree without it */
  readonly plugin: string | undefined;
  readonly data: string;
}

/** Runs until a signal ends it. Resolves with the exit code. */
export async function develop({ env, plugin, data, say, complain }: Asked): Promise<number> {
  let project: Project;
  try {
    project = await prepare(env, plugin, data);
  } catch (error) {
    complain(messageOf(error));
    return 1;
  }
  // What the compiler writes is a package for others; the panel's own files stay private, in its own process.
  process.umask(0o022);
  say(`weir dev: ${project.about}; data in ${project.dataDirectory}; Ctrl-C stops everything`);
  const loop = new Loop(project, { say, complain });
  const ended = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
  });
  try {
    loop.start();
    await ended;
  } finally {
    await loop.stop();
  }
  return 0;
}

class Loop {
  readonly #project: Project;
  readonly #terminal: Terminal;
  #panel: PanelChild | undefined;
  /** files that the panel may have loaded, as they were when it was started */
  #loaded: ReadonlyMap<string, string> | undefined;
  #busy: Promise<void> = Promise.resolve();
  #spare: PanelChild | undefined;
  readonly #builder: Builder;
  #pending = false;
  #ending = false;

  constructor(project: Project, terminal: Terminal) {
    this.#project = project;
    this.#terminal = terminal;
    this.#builder = new Builder(project.recipe, {
      // While the build runs.
      begun: () => void this.#spareChild(),
      built: (since) => this.#built(since),
      failed: (output) =>
        terminal.complain(
          `${output}\n${this.#panel?.isRunning ? 'the build failed; the panel that runs stays' : 'the build failed; the panel starts after the next good build'}`,
        ),
    });
  }

  start(): void {
    this.#builder.start();
    if (this.#project.isBuilt) this.#built(performance.now());
  }

  /** A process that has loaded the libraries, for the panel that comes next. */
  #spareChild(): PanelChild {
    if (this.#spare?.isRunning) return this.#spare;
    const child = new PanelChild(this.#project.environment, (how) => {
      if (child === this.#panel && !this.#ending)
        this.#terminal.complain(`the panel ended (${how}); it starts again after the next change`);
    });
    this.#spare = child;
    return child;
  }

  /** One restart at a time; changes meanwhile are one more. `since` is when the change was noticed, as `performance.now()` has it. */
  #built(since: number): void {
    if (this.#pending || this.#ending) return;
    this.#pending = true;
    this.#busy = this.#busy.then(async () => {
      this.#pending = false;
      await this.#restart(since).catch((error: unknown) => this.#terminal.complain(messageOf(error)));
    });
  }

  async #restart(since: number): Promise<void> {
    if (this.#ending) return;
    const now = await snapshot(this.#project.runs);
    const files = this.#loaded && changed(this.#loaded, now);
    // Saving a file again starts a panel that has ended.
    if (files?.length === 0 && this.#panel?.isRunning) return;
    this.#loaded = now;
    const { dataDirectory, plugin } = this.#project;
    // The new process loads the new code while the old one still answers; code that cannot be loaded replaces nothing.
    const next = this.#spareChild();
    this.#spare = undefined;
    next.load();
    const isLoaded = await next.loaded;
    if (this.#ending) return next.stop();
    if (!isLoaded) {
      this.#terminal.complain(
        this.#panel?.isRunning
          ? 'the new code could not be loaded; the panel that runs stays'
          : 'the panel could not be loaded; it starts after the next change',
      );
      return;
    }
    const former = this.#panel;
    this.#panel = next;
    await former?.leave();
    if (this.#ending) return;
    // Ends of a plugin that is being written are no reason to leave it out.
    if (plugin !== undefined) forgetPluginEnds(dataDirectory, [plugin]);
    next.open();
    if (!(await next.ready)) return;
    const seconds = ((performance.now() - since) / 1000).toFixed(1);
    if (former === undefined) return this.#terminal.say(`started in ${seconds} s; waiting for changes`);
    const [first, ...others] = files ?? [];
    const what =
      first === undefined ? '' : ` (${first}${others.length > 0 ? ` and ${others.length} more` : ''})`;
    this.#terminal.say(`restarted in ${seconds} s${what}`);
  }

  async stop(): Promise<void> {
    this.#ending = true;
    const panel = this.#panel;
    await Promise.all([this.#builder.stop(), this.#spare?.stop(), panel?.stop()]);
    await this.#busy;
    if (this.#panel !== panel) await this.#panel?.stop();
    // A panel that had failed could not take the core along.
    await endCore(this.#project.dataDirectory);
  }
}

// The loop of `weir dev`: after a change it builds and replaces the panel's process; the core keeps running.
import { messageOf } from '../../kernel/errors/errors.js';
import { forgetPluginExits } from '../../panel/plugin-exits.js';
import type { Environment } from '../../panel/variables.js';
import type { Terminal } from '../../plugins/command-line/run.js';
import { Builder } from './builder.js';
import { endCore } from './core.js';
import { PanelChild } from './panel-child.js';
import { type Project, prepare } from './project.js';
import { changed, snapshot } from './snapshot.js';

interface Asked extends Terminal {
  readonly env: Environment;
  /** folder of a plugin; undefined for this tree */
  readonly plugin: string | undefined;
  readonly data: string;
}

/** Runs until a signal. Resolves with the exit code. */
export async function develop({ env, plugin, data, say, complain }: Asked): Promise<number> {
  let project: Project;
  try {
    project = await prepare(env, plugin, data);
  } catch (error) {
    complain(messageOf(error));
    return 1;
  }
  // Other users may read the compiler's output; the panel sets its own mask in its own process.
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
  /** files that the panel may have loaded, with their content at its start */
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
          `${output}\n${this.#panel?.isRunning ? 'the build failed; the running panel stays' : 'the build failed; the panel starts after the next good build'}`,
        ),
    });
  }

  start(): void {
    this.#builder.start();
    if (this.#project.isBuilt) this.#built(performance.now());
  }

  /** A process that has already loaded the libraries, for the next panel. */
  #spareChild(): PanelChild {
    if (this.#spare?.isRunning) return this.#spare;
    const child = new PanelChild(this.#project.environment, (how) => {
      if (child === this.#panel && !this.#ending)
        this.#terminal.complain(`the panel exited (${how}); it restarts after the next change`);
    });
    this.#spare = child;
    return child;
  }

  /** Restarts one at a time; changes meanwhile cause one more restart. `since` is when the change was noticed, in `performance.now()` time. */
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
    // Saving a file again restarts a panel that has exited.
    if (files?.length === 0 && this.#panel?.isRunning) return;
    this.#loaded = now;
    const { dataDirectory, plugin } = this.#project;
    // The new process loads the new code while the old one still answers; if the code cannot be loaded, the old one stays.
    const next = this.#spareChild();
    this.#spare = undefined;
    next.load();
    const isLoaded = await next.loaded;
    if (this.#ending) return next.stop();
    if (!isLoaded) {
      this.#terminal.complain(
        this.#panel?.isRunning
          ? 'the new code could not be loaded; the running panel stays'
          : 'the panel could not be loaded; it starts after the next change',
      );
      return;
    }
    const previous = this.#panel;
    this.#panel = next;
    await previous?.leave();
    if (this.#ending) return;
    // Crashes of a plugin under development are no reason to leave it out.
    if (plugin !== undefined) forgetPluginExits(dataDirectory, [plugin]);
    next.open();
    if (!(await next.ready)) return;
    const seconds = ((performance.now() - since) / 1000).toFixed(1);
    if (previous === undefined) return this.#terminal.say(`started in ${seconds} s; waiting for changes`);
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
    // A panel that failed before could not stop the core.
    await endCore(this.#project.dataDirectory);
  }
}

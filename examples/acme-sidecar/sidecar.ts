import { fileURLToPath } from 'node:url';
import type { PluginContext } from '@weir-panel/weir/kernel';
import { listensOn, type ManagedProcess, type ProcessesApi } from '@weir-panel/weir/plugins/processes';

interface Needs extends Pick<PluginContext, 'name' | 'log'> {
  readonly processes: ProcessesApi;
}

export class Sidecar {
  readonly #needs: Needs;
  #process: ManagedProcess | undefined;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  start(): void {
    const { processes, name, log } = this.#needs;
    this.#process = processes.manage(
      { name, log },
      {
        name: 'echo',
        command: process.execPath,
        args: [fileURLToPath(new URL('./echo-server.js', import.meta.url)), 'echo.sock'],
        ready: listensOn({ socket: 'echo.sock' }),
      },
    );
    void this.#process.start();
  }

  describe(): { state: string; pid: number; reason: string } {
    const state = this.#process?.state ?? { name: 'stopped' };
    return {
      state: state.name,
      pid: 'pid' in state ? state.pid : 0,
      reason: 'reason' in state ? state.reason : '',
    };
  }
}

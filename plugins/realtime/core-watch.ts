// The state of the core as messages. A planned restart is no change of state, so the start of the core is compared too.
import type { EngineApi, EngineState } from '../engine/contract.js';
import { coreNotice, type Notice, RESTARTED } from './core-notice.js';
import type { Stream } from './stream.js';

export class CoreWatch {
  readonly #stream: Stream;
  readonly #engine: Pick<EngineApi, 'status'>;
  /** Unix ms; 0 while no core runs */
  #startedAt = 0;

  constructor({ stream, engine }: { stream: Stream; engine: Pick<EngineApi, 'status'> }) {
    this.#stream = stream;
    this.#engine = engine;
  }

  changed(to: EngineState, reason: string): void {
    // A core that came back after a failure is reported by its state alone.
    this.#startedAt = to === 'running' ? this.#engine.status().startedAt : 0;
    this.#tell(to, coreNotice(to, reason));
  }

  /** Call it every few seconds. */
  look(): void {
    const { state, startedAt } = this.#engine.status();
    const isOther = state === 'running' && this.#startedAt !== 0 && startedAt !== this.#startedAt;
    this.#startedAt = state === 'running' ? startedAt : 0;
    if (isOther) this.#tell('running', RESTARTED);
  }

  #tell(state: EngineState, notice: Notice): void {
    const errorMsg = state === 'error' ? this.#engine.status().errorMsg : '';
    this.#stream.send('engine_state', { state, errorMsg });
    this.#stream.sendEvent('notification', notice);
  }
}

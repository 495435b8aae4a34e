// The state of the core as it is shown: of the panel that runs it, where several share a database.
import type { PanelsApi, SharedFigure } from '../cluster/contract.js';
import type { CoreShownApi, EngineApi } from './contract.js';

type Status = ReturnType<EngineApi['status']>;

export class ShownStatus implements CoreShownApi, SharedFigure<Status> {
  readonly name = 'core';
  readonly #engine: Pick<EngineApi, 'status'>;
  readonly #panels: PanelsApi | undefined;
  #elsewhere: Status | undefined;

  constructor({
    supervisor,
    panels,
  }: { supervisor: Pick<EngineApi, 'status'>; panels: PanelsApi | undefined }) {
    this.#engine = supervisor;
    this.#panels = panels;
  }

  status(): Status {
    const own = this.#engine.status();
    return this.#panels?.leads === false && !this.#panels.hasOwnCore ? (this.#elsewhere ?? own) : own;
  }

  read(): Status {
    return this.#engine.status();
  }
  take(status: Status | undefined): void {
    this.#elsewhere = status;
  }
}

// What the core's runtime and its observatory say, for plugins that record or show it.
import type { CoreMonitorApi, CoreRuntime, OutboundProbe } from '../contract.js';
import type { DriverMonitor } from '../driver.js';
import type { Supervisor } from './supervisor.js';

const ANSWER_MS = 1500;

export class Monitor implements CoreMonitorApi {
  readonly #supervisor: Pick<Supervisor, 'watched'>;

  constructor({ supervisor }: { supervisor: Pick<Supervisor, 'watched'> }) {
    this.#supervisor = supervisor;
  }

  async runtime(): Promise<CoreRuntime | undefined> {
    return this.#read(async (monitor, epoch) => ({ epoch, ...(await monitor.figures(ANSWER_MS)) }));
  }

  async outbounds(): Promise<readonly OutboundProbe[] | undefined> {
    return this.#read((monitor) => monitor.outbounds(ANSWER_MS));
  }

  /** A core that is known to be silent is not waited for again. */
  async #read<T>(read: (monitor: DriverMonitor, epoch: string) => Promise<T>): Promise<T | undefined> {
    const { process, monitor, state } = this.#supervisor.watched();
    return process && monitor && state.answers ? read(monitor, process.epoch) : undefined;
  }
}

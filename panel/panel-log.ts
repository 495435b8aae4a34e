// The log of a panel, as its plugins see it: its level, which changes while it runs, and its last lines.
import type { Configured } from '../plugins/settings/contract.js';
import type { LoggedLine, LogLevel, PanelLogApi } from '../plugins/panel-logs/contract.js';
import type { LogBuffer } from './log-buffer.js';

export class PanelLog implements PanelLogApi {
  readonly configured: Configured<LogLevel>;
  level: LogLevel;
  readonly #buffer: LogBuffer;

  constructor(configured: Configured<LogLevel>, buffer: LogBuffer) {
    this.configured = configured;
    this.level = configured.value;
    this.#buffer = buffer;
  }

  end() {
    return { epoch: this.#buffer.epoch, at: this.#buffer.end };
  }
  since(number: number, most: number): readonly LoggedLine[] {
    return this.#buffer.since(number, most);
  }
  last(count: number, least: LogLevel): readonly LoggedLine[] {
    return this.#buffer.last(count, least);
  }
}

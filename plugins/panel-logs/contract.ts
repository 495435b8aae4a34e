// The panel's log: its last lines and its level.
import { token } from '../../kernel/index.js';

/** Least to most severe. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export interface LoggedLine {
  /** Unix ms */
  readonly at: number;
  readonly level: LogLevel;
  /** the message, and its fields as JSON */
  readonly text: string;
}
/** The panel's log; provided by the program around the kernel. */
export interface PanelLogApi {
  /** the least severe level that is logged, now; from the next line on, another one */
  level: LogLevel;
  /** what environment and config file say */
  readonly configured: {
    readonly value: LogLevel;
    readonly source: 'environment' | 'file' | 'default';
  };
  /** Returns the last lines of at least this level, newest first, from memory: at most 10,240 lines and 4 MiB. */
  last(count: number, least: LogLevel): readonly LoggedLine[];
  /** Where the log ends: `at` is the number of the newest line, from 1 on. With another `epoch` lines have other numbers. */
  end(): { readonly epoch: string; readonly at: number };
  /** Returns the newest lines after this number that are in memory, oldest first, at most `most`. */
  since(number: number, most: number): readonly LoggedLine[];
}
export const PanelLog = token<PanelLogApi>('panel', 'PanelLog');

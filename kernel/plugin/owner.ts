import type { EventQueue } from '../../timing/event-queue.js';
import type { Plugin } from './define.js';

/** The owner of something that the kernel calls (a tap, a route, a command, a job), which answers for its failures: a plugin, or the kernel itself. */
export interface Owner {
  readonly name: string;
  /** one sentence for display */
  readonly about: string;
  /** a third-party plugin */
  readonly outside?: boolean;
  /** its taps have no time limit */
  readonly essential?: boolean;
  /** is not called */
  readonly faulty: boolean;
  /** why it is faulty, for callers */
  readonly why: string;
  /** until this settles, changes are queued for the plugin */
  readonly starting?: Promise<void> | undefined;
  /** its queue of events */
  readonly queue?: EventQueue;
  readonly plugin?: Plugin;
  fault(where: string, error: unknown): void;
  /** Reports that it delayed a caller. */
  slow?(where: string, ms: number): void;
  /** Reports which part of its work is left out, and why. */
  leaveOut?(work: string, reason: string): void;
}

import type { EventQueue } from '../../timing/event-queue.js';
import type { Plugin } from './define.js';
import type { State } from './instance.js';

/** A plugin that starts after the listeners are open. */
export interface LateStart {
  /** resolves when the start has failed, or has finished and `changes` are delivered */
  readonly ended: Promise<void>;
  /** calls of its `after` taps, in the order of commits: delivered one after another once it runs */
  readonly changes: (() => Promise<unknown>)[];
}

/** The owner of something that the kernel calls (a tap, a route, a command, a job), which answers for its failures: a plugin, or the kernel itself. */
export interface Owner {
  readonly name: string;
  /** one sentence for display */
  readonly about: string;
  /** a third-party plugin */
  readonly outside?: boolean;
  /** its taps have no time limit */
  readonly essential?: boolean;
  /** its taps are skipped, its routes answer 503 */
  readonly isOff: boolean;
  /** why it is off, for callers; empty while it is not */
  readonly offReason: string;
  readonly state?: State;
  readonly lateStart?: LateStart | undefined;
  /** its queue of events */
  readonly queue?: EventQueue;
  readonly plugin?: Plugin;
  fault(where: string, error: unknown): void;
  /** Reports that it delayed a caller. */
  slow?(where: string, ms: number): void;
  /** Reports which part of its work is left out, and why. */
  leaveOut?(work: string, reason: string): void;
}

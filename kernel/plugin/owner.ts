import type { EventQueue } from '../../timing/event-queue.js';
import type { Plugin } from './define.js';

/** Who stands behind something that the kernel calls (a tap, a route, a command, a job) and answers for its failures: a plugin, or the kernel itself. */
export interface Owner {
  readonly name: string;
  /** one sentence for people */
  readonly about: string;
  /** not of this tree */
  readonly outside?: boolean;
  /** is waited for as long as it takes */
  readonly essential?: boolean;
  /** is not called */
  readonly faulty: boolean;
  /** why it is faulty, for who calls it */
  readonly why: string;
  /** until it is settled, what has happened is kept for the plugin */
  readonly starting?: Promise<void> | undefined;
  /** of its events */
  readonly queue?: EventQueue;
  readonly plugin?: Plugin;
  fault(where: string, error: unknown): void;
  /** It kept a caller waiting. */
  slow?(where: string, ms: number): void;
  /** Says what of its work is left out, and why. */
  leaveOut?(work: string, reason: string): void;
}

// The state of an instance in the words of the API.
import type { ProcessState } from '../processes/contract.js';
import type { SidecarStatus } from './contract.js';

export const LONGEST_REASON = 300;

/** Returns `running`, or `not running: ` and why. `isServing`: it has had its users. */
export function stateOf(state: ProcessState | undefined, isServing: boolean, problem: string): string {
  if (state?.name === 'running')
    return isServing ? 'running' : `not running: ${problem || 'it gets its users'}`;
  if (state && 'reason' in state) return `not running: ${reasonOf(state.reason, state.lastLines)}`;
  if (problem) return `not running: ${problem}`;
  return `not running: ${state?.name ?? 'starting'}`;
}

/** Zeros while it does not run. */
export const runningOf = (state: ProcessState | undefined): Pick<SidecarStatus, 'pid' | 'since'> =>
  state?.name === 'running' ? { pid: state.pid, since: state.since } : { pid: 0, since: 0 };

function reasonOf(reason: string, lastLines: readonly string[]): string {
  const words = lastLines.at(-1) ?? '';
  const whole = words === '' || reason.includes(words) ? reason : `${reason}: ${words}`;
  return whole.slice(0, LONGEST_REASON);
}

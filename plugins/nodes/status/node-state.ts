// What a node said last, and how each heartbeat changes it.
import type { NodeStatus } from '../contract.js';
import type { StatusReport } from './status-report.js';

export interface NodeState {
  readonly status: NodeStatus;
  /** of the panel that answered first; another panel that answers later does not change it */
  readonly guid: string;
  /** of the panel that answered last */
  readonly answeredGuid: string;
  readonly lastError: string;
  /** Unix seconds of the last good one; 0 for none */
  readonly lastHeartbeat: number;
  readonly latencyMs: number;
  readonly cpuPct: number;
  readonly memPct: number;
  readonly netUp: number;
  readonly netDown: number;
  readonly uptimeSecs: number;
  readonly panelVersion: string;
  readonly engineState: string;
  readonly engineError: string;
  readonly engineVersion: string;
  /** seconds that its clock is ahead; below 0, behind */
  readonly clockOffset: number;
  /** failed heartbeats in a row */
  readonly failures: number;
}
export type StoredState = Omit<NodeState, 'failures'>;

export const NO_STATE: NodeState = {
  status: 'unknown',
  guid: '',
  answeredGuid: '',
  lastError: '',
  lastHeartbeat: 0,
  latencyMs: 0,
  cpuPct: 0,
  memPct: 0,
  netUp: 0,
  netDown: 0,
  uptimeSecs: 0,
  panelVersion: '',
  engineState: '',
  engineError: '',
  engineVersion: '',
  clockOffset: 0,
  failures: 0,
};

/** Outcome of a heartbeat or probe. */
export type Beat =
  | {
      readonly ok: true;
      readonly report: StatusReport;
      readonly latencyMs: number;
      readonly clockOffset: number;
    }
  | { readonly ok: false; readonly error: string };

/** One failure is no outage: networks lose packets, and panels restart. */
export function afterBeat(before: NodeState, beat: Beat, now: number, threshold: number): NodeState {
  if (!beat.ok) {
    const failures = before.failures + 1;
    const isDown = before.status === 'offline' || failures >= threshold;
    return { ...before, failures, lastError: beat.error, status: isDown ? 'offline' : before.status };
  }
  const { report, latencyMs, clockOffset } = beat;
  const { guid, ...figures } = report;
  return {
    ...before,
    ...figures,
    latencyMs,
    clockOffset,
    guid: before.guid || guid,
    answeredGuid: guid,
    status: 'online',
    failures: 0,
    lastError: '',
    lastHeartbeat: Math.floor(now / 1000),
  };
}

/** Whether it must be written at once: others rely on it after a restart. */
export const isTurn = (before: NodeState, after: NodeState): boolean =>
  before.status !== after.status || before.guid !== after.guid || before.answeredGuid !== after.answeredGuid;

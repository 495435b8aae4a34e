// core.json: the record of the core's process, with a note of the engine.
import type { AppliedDigests, CoreProcess } from '../driver.js';
import type { ProcessesApi, ProcessIdentity, RunningProcess } from '../../processes/contract.js';
import type { DriverLog, EngineFolder } from './folder.js';

export interface CoreNote {
  readonly socket: string;
  /** digests of what the core runs */
  readonly record: AppliedDigests;
  /** path of its program; a panel before 0.2 did not write it */
  readonly binary?: string;
  /** see name-mark.ts; a panel before 0.2 did not write it */
  readonly mark?: string;
}

function isCoreNote(value: object): value is CoreNote {
  const { socket, record, mark = '' } = value as Partial<CoreNote>;
  return (
    typeof socket === 'string' &&
    typeof mark === 'string' &&
    typeof record?.base === 'string' &&
    typeof record.inbounds === 'object'
  );
}

/** A core of an earlier version of the panel has no digests of outbounds and rules: they count as unknown. */
export const digestsIn = ({ record }: CoreNote): AppliedDigests => ({
  ...{ outbounds: {}, first: '', rules: '' },
  ...record,
});

export const coreSlot = (processes: Pick<ProcessesApi, 'slot'>, folder: EngineFolder, log: DriverLog) =>
  processes.slot<CoreNote>({ record: folder.recordPath, isNote: isCoreNote, argument: folder.config, log });
export type CoreSlot = ReturnType<typeof coreSlot>;

/** A core's counters begin at zero with each new epoch. */
const epochOf = ({ bootId, pid, startTicks }: ProcessIdentity): string => `${bootId}:${pid}:${startTicks}`;

export const describe = ({ identity, startedAt }: RunningProcess<CoreNote>): CoreProcess => ({
  epoch: epochOf(identity),
  pid: identity.pid,
  startedAt,
});

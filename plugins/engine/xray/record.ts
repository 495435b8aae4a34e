// core.json: the record of a running core, in the slot of its process.
import type { CoreProcess, CoreRecord } from '../driver.js';
import type { ProcessesApi, ProcessIdentity, RunningProcess } from '../../processes/contract.js';
import type { DriverLog, EngineFolder } from './folder.js';

export interface CoreNote {
  readonly socket: string;
  readonly record: CoreRecord;
}
export type CoreInstance = RunningProcess<CoreNote>;

function isCoreNote(value: object): value is CoreNote {
  const { socket, record } = value as Partial<CoreNote>;
  return (
    typeof socket === 'string' && typeof record?.base === 'string' && typeof record.inbounds === 'object'
  );
}

export const coreSlot = (processes: Pick<ProcessesApi, 'slot'>, folder: EngineFolder, log: DriverLog) =>
  processes.slot<CoreNote>({ record: folder.record, isNote: isCoreNote, argument: folder.config, log });
export type CoreSlot = ReturnType<typeof coreSlot>;

/** A core's counters begin at zero with each new epoch. */
const epochOf = ({ bootId, pid, startTicks }: ProcessIdentity): string => `${bootId}:${pid}:${startTicks}`;

export const describe = ({ identity, startedAt }: CoreInstance): CoreProcess => ({
  epoch: epochOf(identity),
  pid: identity.pid,
  startedAt,
});

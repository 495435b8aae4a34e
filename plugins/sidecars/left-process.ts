// A process of a previous panel, read before this panel adopts it or stops it: one that was started in another way, or
// that nobody wants any more, is stopped without a control that could be asked.
import { join } from 'node:path';
import { type Log, messageOf } from '../../kernel/index.js';
import type { ProgramUsersApi } from '../clients/contract.js';
import type { ProcessesApi } from '../processes/contract.js';
import type { CounterReading } from '../traffic/contract.js';
import type { Sidecar, SidecarInstance } from './contract.js';
import { inTime } from './in-time.js';
import type { InstanceRecord } from './instance-record.js';
import { callProgram } from './program-call.js';
import { Readings } from './reading.js';

const READ_MS = 4_000;

interface Needs {
  readonly sidecar: Sidecar;
  readonly processes: ProcessesApi;
  readonly users: ProgramUsersApi;
  readonly log: Log;
}
export interface LeftProcess {
  readonly name: string;
  readonly inboundIds: readonly number[];
  /** of the process */
  readonly folder: string;
  readonly record: Pick<InstanceRecord, 'ports' | 'secret'>;
}

/** How a control, or `peek`, sees a process. */
export const viewOf = (
  { name, inboundIds, folder, record: { ports, secret } }: LeftProcess,
  { pid, adopted }: Pick<SidecarInstance, 'pid' | 'adopted'>,
  signal: AbortSignal,
): SidecarInstance => ({
  name,
  inboundIds,
  folder,
  ports,
  secret,
  pid,
  adopted,
  signal,
  call: (port, path, options = {}) => {
    const number = ports[port];
    if (number === undefined) throw new TypeError(`the plan names no port ${port}`);
    return callProgram(number, path, options, signal);
  },
});

/** Resolves with a reading; undefined where no process is left, or where it cannot be read. */
export async function readLeft(
  { sidecar, processes, users, log }: Needs,
  left: LeftProcess,
): Promise<CounterReading | undefined> {
  if (!sidecar.peek) return undefined;
  const slot = processes.slot({
    record: join(left.folder, 'process.json'),
    isNote: (_note): _note is object => true,
    log,
  });
  const abort = new AbortController();
  const process = await slot.adopt().catch(() => undefined);
  if (!process) return undefined;
  const { pid } = process.identity;
  try {
    const view = viewOf(left, { pid, adopted: true }, abort.signal);
    const counters = await inTime(READ_MS, 'reading its counters', async () => sidecar.peek?.(view) ?? []);
    const readings = new Readings({
      stream: `${sidecar.protocol}/${left.name}`,
      epoch: `${pid}-${process.startedAt}`,
      since: process.startedAt,
      inboundIds: left.inboundIds,
      isComplete: false,
      isUser: (ref) => users.isAttached(ref),
    });
    return await readings.take(counters, Date.now());
  } catch (error) {
    log.warn('cannot read the counters of a program of a previous panel', {
      protocol: sidecar.protocol,
      sidecar: left.name,
      reason: messageOf(error),
    });
    return undefined;
  } finally {
    abort.abort();
    process.release();
  }
}

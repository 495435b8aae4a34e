// What a plan says of a process, in the form that `processes` takes.
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../kernel/index.js';
import type { ProcessOptions } from '../processes/contract.js';
import type { InstancePlan, ProcessPlan, SidecarFile, SidecarUser } from './contract.js';
import type { FoundProgram } from './find-program.js';
import type { InstanceRecord } from './instance-record.js';
import { servesOn } from './own-port.js';

const READY_MS = 15_000;

export interface PlannedProcess {
  readonly plan: ProcessPlan;
  /** differs where the process must be another one */
  readonly digest: string;
  readonly options: Omit<ProcessOptions, 'name'>;
}

export function plannedProcess(
  of: InstancePlan,
  { path, mark }: FoundProgram,
  { ports, secret }: InstanceRecord,
  folder: string,
  users: readonly SidecarUser[] | undefined,
): PlannedProcess {
  const plan = of.process({ folder, ports, secret }, users);
  const { args, env, files = [], stopSignal } = plan;
  const digest = createHash('sha256')
    .update(JSON.stringify([path, mark, of.inboundIds, args, env, files]))
    .digest('base64url');
  const [port] = Object.values(ports);
  const ready = plan.ready ?? (port === undefined ? undefined : servesOn(port));
  return {
    plan,
    digest,
    options: {
      command: path,
      args,
      startedWith: digest,
      readyWithin: plan.readyWithin ?? READY_MS,
      ...(env && { env }),
      ...(ready && { ready }),
      ...(stopSignal && { stopSignal }),
    },
  };
}

/** Rejects with a sentence that names the file. */
export async function writeFiles({ files = [] }: ProcessPlan, folder: string): Promise<void> {
  for (const { name, text, mode = 0o600 } of files) {
    if (name === '' || /[/\0]/.test(name) || name.startsWith('.') || name === 'process.json')
      throw new Error(`the file name ${JSON.stringify(name)} is not valid`);
    await replaceFile(join(folder, name), text, mode);
  }
}

export async function removeFiles(files: readonly SidecarFile[], folder: string): Promise<void> {
  for (const { name } of files) await rm(join(folder, name), { force: true });
}

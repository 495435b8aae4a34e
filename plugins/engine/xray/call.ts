// One call of the core's API, with its failure in our terms.
import type { CallError, Channel } from './channel.js';
import { failureOf } from './failures.js';

export interface Call {
  /** `/<service>/<method>` */
  readonly path: string;
  readonly request: Uint8Array;
  /** for messages, e.g. `AddInbound in-443` */
  readonly name: string;
  /** ms */
  readonly timeout: number;
  readonly waitForReady?: boolean;
}

/** Rejects with CoreRefused or CoreUnreachable. */
export function callCore(channel: Channel, { path, request, name, ...options }: Call): Promise<Buffer> {
  return channel.call(path, request, options).catch((error: CallError) => {
    throw failureOf(error, name);
  });
}

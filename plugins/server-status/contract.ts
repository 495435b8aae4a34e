// Status of machine and core, for other plugins to show.
import { type Static, token } from '../../kernel/index.js';
import type { StatusReply } from './status.js';

export interface ServerStatusApi {
  /** Returns the reply of `GET /panel/api/server/status`; figures of the machine are up to two seconds old. */
  status(): Promise<Static<typeof StatusReply>>;
}
export const ServerStatus = token<ServerStatusApi>('server-status', 'ServerStatus');

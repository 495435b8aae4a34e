// How machine and core are doing, for those who show it elsewhere.
import { type Static, token } from '../../kernel/index.js';
import type { StatusReply } from './status.js';

export interface ServerStatusApi {
  /** What `GET /panel/api/server/status` answers; the figures of the machine are up to two seconds old. */
  status(): Promise<Static<typeof StatusReply>>;
}
export const ServerStatus = token<ServerStatusApi>('server-status', 'ServerStatus');

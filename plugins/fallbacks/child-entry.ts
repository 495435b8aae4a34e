// How a client program reaches an inbound that only a master can reach.
import { isLoopback } from '../../kernel/index.js';
import { isSocket } from '../core-guard/contract.js';
import type { EntryTemplate, Inbound } from '../inbounds/contract.js';

/** Whether only programs of this machine can connect to it. */
export const isHidden = ({ listen }: Pick<Inbound, 'listen'>): boolean =>
  isSocket(listen) || isLoopback(listen);

/** The child's entry at the place of its master: the client program connects there, with the master's TLS or REALITY, and speaks the child's transport. */
export const throughMaster = (
  entry: EntryTemplate,
  { server, port, security }: EntryTemplate,
): EntryTemplate => ({ ...entry, server, port, security });

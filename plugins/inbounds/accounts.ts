// What an inbound makes of a client, seen on one that has everything.
import { PanelError } from '../../kernel/index.js';
import type { CoreAccount } from '../engine/contract.js';
import type { Inbound } from './schema.js';
import type { ClientIdentity, Protocol } from './contract.js';

/** A client that has everything. */
export const ANYBODY: ClientIdentity = {
  id: 0,
  email: 'anybody',
  subId: 'anybody',
  uuid: '00000000-0000-4000-8000-000000000000',
  password: 'anybody',
  flow: 'xtls-rprx-vision',
};

/** The account of a client, or nothing where the protocol's plugin fails, which is written down to it already. */
export function accountOf(
  protocol: Protocol,
  client: ClientIdentity,
  inbound: Inbound,
): CoreAccount | undefined {
  try {
    return protocol.account(client, inbound);
  } catch (error) {
    if (error instanceof PanelError) return undefined;
    throw error;
  }
}

/** Tells two inbounds apart whose configs are the same, but whose accounts are not (`disableFlow`). */
export const accountsOf = (inbound: Inbound, protocol: Protocol): string =>
  JSON.stringify(accountOf(protocol, ANYBODY, inbound));

/** Whether a client's flow reaches the core through this inbound. */
export function takesFlow(inbound: Inbound, protocol: Protocol): boolean {
  const account = accountOf(protocol, ANYBODY, inbound);
  return account?.['flow'] !== undefined && account['flow'] !== '';
}

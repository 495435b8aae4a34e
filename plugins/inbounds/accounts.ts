// Accounts of clients in an inbound, and what a sample account shows about it.
import { PanelError } from '../../kernel/index.js';
import type { CoreAccount } from '../engine/contract.js';
import type { Inbound } from './schema.js';
import type { ClientIdentity, Protocol } from './contract.js';

/** A sample client with a value in every field. */
export const ANYBODY: ClientIdentity = {
  id: 0,
  email: 'anybody',
  subId: 'anybody',
  uuid: '00000000-0000-4000-8000-000000000000',
  password: 'anybody',
  auth: 'anybody',
  flow: 'xtls-rprx-vision',
  security: 'auto',
};

/** Returns why clients cannot be attached to this inbound; undefined when they can, or where the protocol's plugin fails. */
export function clientlessReason(
  protocol: Protocol | undefined,
  { settings }: Pick<Inbound, 'settings'>,
): string | undefined {
  try {
    return protocol?.clientless?.(settings);
  } catch (error) {
    if (error instanceof PanelError) return undefined;
    throw error;
  }
}

/** The sample client as it is in this inbound. */
export const anybodyIn = (inbound: Inbound, { credential }: Protocol): ClientIdentity =>
  credential?.sample ? { ...ANYBODY, credentials: new Map([[inbound.id, credential.sample]]) } : ANYBODY;

/** Returns the account of a client; undefined where the inbound takes no clients, where it lacks the credential that the protocol needs, and where the protocol's plugin fails, which is logged already. */
export function accountOf(
  protocol: Protocol,
  client: ClientIdentity,
  inbound: Inbound,
): CoreAccount | undefined {
  if (clientlessReason(protocol, inbound) !== undefined) return undefined;
  if (protocol.credential?.sample && !client.credentials?.has(inbound.id)) return undefined;
  try {
    return protocol.account(client, inbound);
  } catch (error) {
    if (error instanceof PanelError) return undefined;
    throw error;
  }
}

/** Differs for inbounds with the same config but other accounts (`disableFlow`). */
export const accountsOf = (inbound: Inbound, protocol: Protocol): string =>
  JSON.stringify(accountOf(protocol, anybodyIn(inbound, protocol), inbound)) ?? '';

/** Whether a client's flow reaches the core through this inbound. */
export function takesFlow(inbound: Inbound, protocol: Protocol): boolean {
  const account = accountOf(protocol, anybodyIn(inbound, protocol), inbound);
  return account?.['flow'] !== undefined && account['flow'] !== '';
}

// What an inbound makes of a client, seen on one that has everything.
import type { Inbound } from './schema.js';
import type { Protocol } from './contract.js';

const ANYBODY = {
  email: 'anybody',
  subId: 'anybody',
  uuid: '00000000-0000-4000-8000-000000000000',
  password: 'anybody',
  flow: 'xtls-rprx-vision',
};

/** Tells two inbounds apart whose configs are the same, but whose accounts are not (`disableFlow`). */
export const accountsOf = (inbound: Inbound, protocol: Protocol): string =>
  JSON.stringify(protocol.account(ANYBODY, inbound));

/** Whether a client's flow reaches the core through this inbound. */
export function takesFlow(inbound: Inbound, protocol: Protocol): boolean {
  const account = protocol.account(ANYBODY, inbound);
  return 'flow' in account && account.flow !== '';
}

import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('inbounds', {
  NOT_FOUND: [404, 'there is no inbound with this id'],
  PORT_TAKEN: [409, 'another inbound listens on this port'],
  PORT_IN_USE: [409, 'another program listens on this port'],
  UNKNOWN_NODE: [422, 'there is no node with this id'],
  TAG_TAKEN: [409, 'another inbound has this tag'],
  UNKNOWN_PROTOCOL: [422, 'no plugin knows this protocol'],
  POOL_FULL: [409, 'the inbound has no free address left'],
  CORE_REFUSED: [422, 'the core rejects this inbound'],
  NO_CLIENTS: [422, 'this inbound takes no clients'],
  CLIENTS_APART: [422, 'no plugin here stores clients; leave settings.clients out'],
});

import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('nodes', {
  NOT_FOUND: [404, 'there is no node with this id'],
  NAME_TAKEN: [409, 'another node has this name'],
  TOO_MANY: [409, 'there are as many nodes as there can be; delete one first'],
  IN_USE: [409, 'an inbound runs on this node; move or delete it first'],
  DISABLED: [409, 'this node is disabled; enable it first'],
  NO_TOKEN: [400, 'an enabled node needs an API token, unless tlsVerifyMode is mtls'],
  TOKEN_STAYS: [403, 'only a full admin sends the stored token of a node to another place'],
  UNREACHABLE: [422, 'the node does not answer as a panel does; nothing is saved'],
  FAILED: [422, 'the node did not do it'],
  NO_HTTPS: [400, 'only https has a certificate'],
  NO_AUTHORITY: [409, 'there is no authority yet; POST nodes/mtls/ca creates it'],
  ROTATING: [409, 'a newer authority already exists; retire the previous one first'],
  NOT_ROTATING: [409, 'there is no newer authority; rotate first'],
  STILL_USED: [409, 'nodes trust the previous authority only; give them the new one first'],
  BAD_BUNDLE: [400, 'caCert must be PEM of authorities'],
  ROUTE: [403, 'a central panel may not call this path'],
});

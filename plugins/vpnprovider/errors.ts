import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('vpnprovider', {
  NO_KEY: [409, 'no private key is stored; call the action reg or setKey first'],
  NO_SERVER: [404, 'the provider has no such server in this country'],
  REFUSED: [422, 'the VPN provider refuses this'],
  SERVICE: [502, 'the VPN provider cannot be used'],
  NO_TEMPLATE: [503, 'the plugin core-template does not run, so no outbound can be changed'],
});

import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('edgetunnel', {
  NO_DEVICE: [409, 'no device is registered; call the action reg first'],
  BUSY: [409, 'another call changes the device; try again when it is done'],
  REFUSED: [422, 'the tunnel service refuses this'],
  SERVICE: [502, 'the tunnel service cannot be used'],
  NO_TEMPLATE: [503, 'the plugin core-template does not run, so no outbound can be changed'],
});

import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('event-callbacks', {
  NOT_FOUND: [404, 'there is no endpoint with this id'],
  NO_DELIVERY: [404, 'there is no delivery with this id'],
  EVENT: [400, 'there is no such type of event'],
  URL: [400, 'the address must begin with https:// or http://'],
  TAKEN: [409, 'there is an endpoint with this id'],
  BUSY: [409, 'a ping of this endpoint is under way'],
  TOO_MANY: [409, 'there are as many endpoints as there can be; delete one first'],
});

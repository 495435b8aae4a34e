import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('notifications', {
  UNKNOWN_EVENT: [400, 'no plugin has such an event'],
  UNKNOWN_DELIVERY: [404, 'there is no such delivery in the log'],
  STILL_WAITING: [409, 'this delivery still waits to be sent; it is retried by itself'],
  QUEUE_FULL: [409, 'the queue of this channel is full; send it again when less waits'],
  NO_CHANNEL: [409, 'the channel of this delivery is off or not there; set it up first'],
});

import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('bulk-jobs', {
  NOT_FOUND: [404, 'there is no such job'],
  WHOM: [400, 'send either filter or emails; an empty filter means all clients'],
  UNKNOWN_EXCEPTION: [400, 'except names a client that does not exist'],
  TOO_MANY: [429, 'too many jobs wait; wait until one has ended, or stop one'],
  ENDED: [409, 'the job has ended already'],
  NOT_ENDED: [409, 'the job has not ended yet; stop it first'],
  NOTHING_LEFT: [409, 'the job has nothing to try again'],
});

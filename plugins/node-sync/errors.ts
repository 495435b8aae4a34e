import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('node-sync', {
  HAS_INBOUNDS: [409, 'inbounds run on this node; move or delete them first'],
  NO_ANSWER: [422, 'the node does not answer'],
  NOT_THERE: [409, 'an inbound does not run on this node'],
  ALL_MODE: [
    409,
    'the node has the mode all, which would adopt them again; give it the mode selected with the tags that this panel keeps',
  ],
  NO_NODE: [404, 'there is no node with this id'],
});

import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('node-sync', {
  HAS_INBOUNDS: [409, 'inbounds run on this node; move or delete them first'],
  NO_NODE: [404, 'there is no node with this id'],
});

// The reply that describes a change of the config.
import { bool, int, list, oneOf, shape, word } from '../../kernel/index.js';

const tags = () => list(word());
const difference = () => shape({ put: tags().description('new or changed'), remove: tags() });

export const coreChangeFields = {
  change: oneOf('none', 'hot', 'restart', 'start').description(
    'none: the core runs it already; hot: it changes while the core runs; restart: all connections end; start: no core runs now',
  ),
  inbounds: difference().description('by tag'),
  outbounds: difference().description('by tag'),
  rules: bool().description('whether rules or balancers change'),
  sections: tags().description('parts of the config that only a restart changes'),
  connections: shape({
    end: oneOf('none', 'some', 'all'),
    inbounds: tags().description('inbounds whose transport ends its connections with the inbound'),
    users: int().description('users who lose connections now, as far as the core sees them'),
  }),
} as const;
export const CoreChangeReply = shape(coreChangeFields);

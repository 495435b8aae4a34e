// What a change of the config does to the core: type and schema.
import { bool, int, list, oneOf, shape, type Static, word } from '../../../kernel/index.js';

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
    end: oneOf('none', 'some', 'all').description(
      'connections that end; `some`: those of `inbounds`. A new connection may fail within about a millisecond while its outbound or inbound is replaced',
    ),
    inbounds: tags().description('inbounds whose transport ends its connections with the inbound'),
    users: int().description(
      'users who have such connections now, without those behind a proxy of this machine',
    ),
  }),
} as const;
export const CoreChangeReply = shape(coreChangeFields);
export type CoreChange = Static<typeof CoreChangeReply>;

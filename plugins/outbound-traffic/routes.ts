import { int, list, message, payload, route, type Route, shape, text, word } from '../../kernel/index.js';
import { errors } from './errors.js';
import type { OutboundPoll } from './poll.js';
import type { OutboundStore } from './store.js';

/** The tag that stands for all. */
const ALL = '-alltags-';

const Outbound = shape({
  id: int(),
  tag: text(),
  up: int().min(0).description('bytes that left through it'),
  down: int().min(0),
  total: int().min(0),
});

export const routes = ({ poll, store }: { poll: OutboundPoll; store: OutboundStore }): Route[] => [
  route({
    method: 'GET',
    path: '/panel/api/engine/getOutboundsTraffic',
    name: 'engine.outboundsTraffic',
    doc: 'The bytes of each outbound that ever moved any, since its last reset; also of those that no config has any more.',
    reply: payload(list(Outbound)),
    handle: () => store.shown(),
  }),
  route({
    method: 'POST',
    path: '/panel/api/engine/resetOutboundsTraffic',
    name: 'engine.resetOutboundsTraffic',
    doc: 'Sets the counted bytes of an outbound to zero.',
    form: true,
    body: shape({
      tag: word().required().max(4096).description(`tag of the outbound; \`${ALL}\` resets all`),
    }).example({ tag: ALL }),
    reply: message(),
    errors: [errors.NO_OUTBOUND, errors.NOT_WRITTEN],
    handle: async ({ body: { tag }, who }) => {
      if (tag !== ALL) {
        await poll.reset(who, tag);
        return `the traffic of the outbound ${tag} is zero`;
      }
      return `the traffic of all outbounds is zero: ${await poll.reset(who)}`;
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/x/outbound-traffic/prune',
    name: 'outboundTraffic.prune',
    doc: 'Removes the outbounds that the config of the core does not have from the list of traffic, and returns their tags. One that comes back is counted from zero.',
    reply: payload(list(text())),
    errors: [errors.NOT_WRITTEN],
    handle: ({ who }) => poll.prune(who),
  }),
];

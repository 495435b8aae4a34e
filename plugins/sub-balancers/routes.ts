import { list, once, payload, route, type Route, withMessage } from '../../kernel/index.js';
import { inboundErrors, type InboundsApi } from '../inbounds/contract.js';
import { type BalancerStore, balancerVersion, shownBalancer } from './balancer-store.js';
import { changedFields } from './checked.js';
import { errors } from './errors.js';
import { type Balancer, BalancerId, BalancerReply, NewBalancer, SentBalancer } from './fields.js';
import type { LiveNews } from './live-news.js';

const PATH = '/panel/api/sub-balancers';

export const routes = ({
  store,
  inbounds,
  news,
}: {
  store: BalancerStore;
  inbounds: InboundsApi;
  news: LiveNews;
}): Route[] => {
  const versioned = (declared: Route): Route =>
    balancerVersion.guarded(declared, ({ id }: { readonly id: number }) => shownBalancer(store.find(id)));
  const remove = (method: 'DELETE' | 'POST', path: string, name: string): Route =>
    versioned(
      route({
        method,
        path,
        name,
        doc: 'Deletes a balancer and returns it.',
        params: BalancerId,
        reply: payload(BalancerReply),
        errors: [errors.NOT_FOUND],
        handle: async ({ params: { id }, who }) => {
          const balancer = await store.delete(id, who);
          news.changed();
          return withMessage('balancer deleted', shownBalancer(balancer));
        },
      }),
    );
  return [
    route({
      method: 'GET',
      path: PATH,
      name: 'subBalancers.list',
      doc: 'All balancers of the JSON subscription, by sortOrder and id.',
      reply: payload(list(BalancerReply)),
      handle: () => store.list().map(shownBalancer),
    }),
    route({
      method: 'POST',
      path: PATH,
      name: 'subBalancers.create',
      form: true,
      doc: 'Adds a document to the JSON subscription: the core chooses among the entries of the inbounds.',
      body: NewBalancer,
      reply: payload(BalancerReply),
      errors: [errors.INVALID, errors.TOO_MANY, inboundErrors.NOT_FOUND],
      handle: async (input) => {
        const fields = changedFields(input.body);
        inbounds.require(fields.inboundIds, 'inboundIds');
        const balancer = await once<Balancer>(input, (note) => store.add(fields, input.who, note));
        news.changed();
        return withMessage('balancer added', shownBalancer(balancer));
      },
    }),
    versioned(
      route({
        method: 'POST',
        path: `${PATH}/{id}`,
        name: 'subBalancers.update',
        form: true,
        doc: 'Changes what is sent and leaves the rest. Another strategy than leastLoad removes the weights.',
        params: BalancerId,
        body: SentBalancer,
        reply: payload(BalancerReply),
        errors: [errors.NOT_FOUND, errors.INVALID, inboundErrors.NOT_FOUND],
        handle: async ({ params: { id }, body, who }) => {
          store.find(id);
          if (body.inboundIds) inbounds.require(body.inboundIds, 'inboundIds');
          const balancer = await store.update(id, (before) => changedFields(body, before), who);
          news.changed();
          return withMessage('balancer saved', shownBalancer(balancer));
        },
      }),
    ),
    remove('DELETE', `${PATH}/{id}`, 'subBalancers.delete'),
    remove('POST', `${PATH}/{id}/del`, 'subBalancers.del'),
  ];
};

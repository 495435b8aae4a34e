import {
  kernelErrors,
  list,
  message,
  once,
  payload,
  route,
  type Route,
  withMessage,
} from '../../kernel/index.js';
import { LinkError } from '../link-reader/contract.js';
import { holdingOpen } from '../outgoing/contract.js';
import { errors } from './errors.js';
import {
  LinkReply,
  NewSub,
  OutboundList,
  SentLink,
  SentMove,
  SentSource,
  SentSub,
  SubId,
  SubReply,
} from './fields.js';
import { ListProblem } from './list-problem.js';
import type { ListReader } from './list-reader.js';
import type { SubService } from './sub-service.js';
import { type Sub, subVersion } from './sub-store.js';

const PATH = '/panel/api/engine/outbound-subs';

/** Each of them may wait for lists that the core tests. */
export const routes = ({ service, lists }: { service: SubService; lists: ListReader }): Route[] => {
  const versioned = (declared: Route): Route =>
    subVersion.guarded(declared, ({ id }: { readonly id: number }) => service.get(id));
  const remove = (method: 'DELETE' | 'POST', path: string, name: string): Route =>
    versioned(
      route({
        method,
        path,
        name,
        doc: 'Deletes a subscription; its outbounds leave the core.',
        params: SubId,
        reply: message(),
        errors: [errors.NOT_FOUND],
        handle: ({ params: { id }, who, reply }) =>
          holdingOpen(reply.progressed, () => service.delete(id, who)),
      }),
    );
  return [
    route({
      method: 'GET',
      path: PATH,
      name: 'engine.outboundSubs',
      doc: 'The subscriptions to lists of outbounds, in their order.',
      reply: payload(list(SubReply)),
      handle: () => service.list(),
    }),
    route({
      method: 'POST',
      path: `${PATH}/parse`,
      name: 'engine.parseOutboundSub',
      form: true,
      doc: 'Fetches a list and returns the outbounds that the core takes, with the tags that they would have. Writes nothing.',
      body: SentSource,
      reply: payload(OutboundList),
      errors: [errors.NOT_FETCHED],
      handle: async ({ body, reply }) => {
        const looked = await holdingOpen(reply.progressed, () =>
          service.look(body as Parameters<SubService['look']>[0]),
        );
        return withMessage(looked.message, looked.outbounds);
      },
    }),
    route({
      method: 'POST',
      path: PATH,
      name: 'engine.createOutboundSub',
      form: true,
      doc: 'Subscribes to a list of outbounds. It is fetched within a minute, or by `refresh`.',
      body: NewSub,
      reply: payload(SubReply),
      errors: [errors.TOO_MANY],
      handle: async (input) => {
        const sub = await once<Sub>(input, (note) => service.create(input.body, input.who, note));
        return withMessage('subscription added', service.shown(sub));
      },
    }),
    versioned(
      route({
        method: 'POST',
        path: `${PATH}/{id}`,
        name: 'engine.updateOutboundSub',
        form: true,
        doc: 'Changes what is sent and leaves the rest. With another `tagPrefix` the outbounds get other tags.',
        params: SubId,
        body: SentSub,
        reply: message(),
        errors: [errors.NOT_FOUND],
        handle: ({ params: { id }, body, who, reply }) =>
          holdingOpen(reply.progressed, () => service.update(id, body, who)),
      }),
    ),
    remove('DELETE', `${PATH}/{id}`, 'engine.deleteOutboundSub'),
    remove('POST', `${PATH}/{id}/del`, 'engine.delOutboundSub'),
    route({
      method: 'POST',
      path: `${PATH}/{id}/refresh`,
      name: 'engine.refreshOutboundSub',
      doc: 'Fetches the list now and returns the outbounds in force. If that fails, the previous ones stay.',
      params: SubId,
      reply: payload(OutboundList),
      errors: [errors.NOT_FOUND, errors.NOT_FETCHED],
      handle: async ({ params: { id }, reply }) => {
        const refreshed = await holdingOpen(reply.progressed, () => service.refresh(id));
        return withMessage(refreshed.message, refreshed.outbounds);
      },
    }),
    versioned(
      route({
        method: 'POST',
        path: `${PATH}/{id}/move`,
        name: 'engine.moveOutboundSub',
        form: true,
        doc: 'Changes places with the previous or next subscription.',
        params: SubId,
        body: SentMove,
        reply: message(),
        errors: [errors.NOT_FOUND],
        handle: ({ params: { id }, body, who, reply }) =>
          holdingOpen(reply.progressed, () => service.move(id, body.dir === 'up' ? -1 : 1, who)),
      }),
    ),
    route({
      method: 'POST',
      path: '/panel/api/x/outbound-subs/link',
      name: 'outboundSubs.link',
      doc: 'Makes an outbound out of a share link, for the template. Fetches and writes nothing; the core tests it when the template is planned.',
      body: SentLink,
      reply: payload(LinkReply),
      handle: ({ body: { link } }) => {
        try {
          return lists.fromLink(link);
        } catch (error) {
          if (!(error instanceof LinkError || error instanceof ListProblem)) throw error;
          throw kernelErrors.INVALID(`link: ${error.message}`, { path: 'link' });
        }
      },
    }),
  ];
};

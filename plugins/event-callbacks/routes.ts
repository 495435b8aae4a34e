import {
  list,
  message,
  once,
  payload,
  route,
  type Route,
  shape,
  text,
  withMessage,
} from '../../kernel/index.js';
import type { DeliveryLog } from './delivery-log.js';
import type { EndpointService } from './endpoint-service.js';
import { endpointVersion } from './endpoint-store.js';
import { errors } from './errors.js';
import type { EventTypes } from './event-types.js';
import {
  CreatedReply,
  DeliveryId,
  DeliveryQuery,
  DeliveryReply,
  EndpointId,
  EndpointReply,
  InformReply,
  PingReply,
  RotatedReply,
  SentEndpoint,
  SentEndpointChange,
  SentRotation,
  SentSpan,
} from './fields.js';
import type { TrafficInform } from './traffic-inform.js';

const PATH = '/panel/api/x/event-callbacks';
const ONE = `${PATH}/endpoints/{id}`;

interface Needs {
  readonly service: EndpointService;
  readonly deliveryLog: DeliveryLog;
  readonly eventTypes: EventTypes;
  readonly inform: TrafficInform;
}

export const routes = ({ service, deliveryLog, eventTypes, inform }: Needs): Route[] => [
  route({
    method: 'GET',
    path: `${PATH}/events`,
    name: 'eventCallbacks.events',
    doc: 'The types of events that an endpoint can choose.',
    reply: payload(list(shape({ type: text(), doc: text() }))),
    handle: () => eventTypes.list(),
  }),
  route({
    method: 'GET',
    path: `${PATH}/endpoints`,
    name: 'eventCallbacks.list',
    doc: 'The endpoints, how far each has come, and what it fails with.',
    reply: payload(list(EndpointReply)),
    handle: () => service.list(),
  }),
  route({
    method: 'POST',
    path: `${PATH}/endpoints`,
    name: 'eventCallbacks.add',
    doc: 'Adds an endpoint; it gets what happens from now on. The reply alone has its secret.',
    body: SentEndpoint,
    reply: payload(CreatedReply),
    errors: [errors.URL, errors.EVENT, errors.TAKEN, errors.TOO_MANY],
    handle: async (input) => {
      const added = await once<{ id: string; secret: string }>(input, (note) =>
        service.add(input.body, input.who, note),
      );
      return withMessage('endpoint added; note its secret, which is not shown again', added);
    },
  }),
  route({
    method: 'GET',
    path: ONE,
    name: 'eventCallbacks.get',
    doc: 'One endpoint.',
    params: EndpointId,
    reply: payload(EndpointReply),
    errors: [errors.NOT_FOUND],
    handle: ({ params: { id } }) => service.get(id),
  }),
  endpointVersion.guarded(
    route({
      method: 'POST',
      path: ONE,
      name: 'eventCallbacks.update',
      doc: 'Changes what is sent of an endpoint. A disabled one goes on where it stopped when it is enabled.',
      params: EndpointId,
      body: SentEndpointChange,
      reply: payload(EndpointReply),
      errors: [errors.NOT_FOUND, errors.URL, errors.EVENT],
      handle: ({ params: { id }, body, who }) => service.change(id, body, who),
    }),
    ({ id }: { readonly id: string }) => service.get(id),
  ),
  endpointVersion.guarded(
    route({
      method: 'POST',
      path: `${ONE}/del`,
      name: 'eventCallbacks.remove',
      doc: 'Deletes an endpoint, and what waits for it.',
      params: EndpointId,
      reply: message(),
      errors: [errors.NOT_FOUND],
      handle: async ({ params: { id }, who }) => {
        await service.remove(id, who);
        return 'endpoint deleted';
      },
    }),
    ({ id }: { readonly id: string }) => service.get(id),
  ),
  endpointVersion.guarded(
    route({
      method: 'POST',
      path: `${ONE}/rotate`,
      name: 'eventCallbacks.rotate',
      doc: 'Makes a new secret. Until the previous one ends, each message has a signature of both.',
      params: EndpointId,
      body: SentRotation,
      reply: payload(RotatedReply),
      errors: [errors.NOT_FOUND],
      handle: async (input) => {
        const { secret, previousUntil } = await once<{ secret: string; previousUntil: number }>(
          input,
          (note) => service.rotate(input.params.id, input.body.overlapHours, input.who, note),
        );
        return withMessage('secret changed; note the new one, which is not shown again', {
          secret,
          previousSecretUntil: previousUntil,
        });
      },
    }),
    ({ id }: { readonly id: string }) => service.get(id),
  ),
  route({
    method: 'POST',
    path: `${ONE}/ping`,
    name: 'eventCallbacks.ping',
    doc: 'Sends one event of the type `ping` at once and returns what came of it.',
    params: EndpointId,
    reply: payload(PingReply),
    errors: [errors.NOT_FOUND, errors.BUSY],
    handle: async ({ params: { id }, signal }) => {
      const { ok, status, ms, error } = await service.ping(id, signal);
      return { delivered: ok, status, ms, error };
    },
  }),
  route({
    method: 'POST',
    path: `${ONE}/redeliver`,
    name: 'eventCallbacks.redeliverSpan',
    doc: 'Sends the stored events of a time span again that the endpoint wants, in their order.',
    params: EndpointId,
    body: SentSpan,
    reply: message(),
    errors: [errors.NOT_FOUND],
    handle: async ({ params: { id }, body, who }) =>
      `${await service.spanAgain(id, body, who)} events are sent again`,
  }),
  route({
    method: 'GET',
    path: `${PATH}/deliveries`,
    name: 'eventCallbacks.deliveries',
    doc: 'Deliveries that were attempted at least once, the newest first.',
    query: DeliveryQuery,
    reply: payload(list(DeliveryReply)),
    handle: ({ query }) => deliveryLog.list(query),
  }),
  route({
    method: 'POST',
    path: `${PATH}/deliveries/{id}/redeliver`,
    name: 'eventCallbacks.redeliver',
    doc: 'Sends one event again, with the same webhook-id.',
    params: DeliveryId,
    reply: message(),
    errors: [errors.NO_DELIVERY],
    handle: async ({ params: { id }, who }) => {
      await service.again(id, who);
      return 'the event is sent again';
    },
  }),
  route({
    method: 'GET',
    path: `${PATH}/trafficInform`,
    name: 'eventCallbacks.trafficInform',
    doc: 'What came of the reports to externalTrafficInformURI since the panel started.',
    reply: payload(InformReply),
    handle: () => ({ ...inform.status }),
  }),
];

import {
  bool,
  int,
  list,
  message,
  once,
  optional,
  payload,
  route,
  type Route,
  shape,
  text,
} from '../../kernel/index.js';
import { holdingOpen } from '../outgoing/contract.js';
import type { RemoteTools } from './calls/remote-tools.js';
import { errors } from './errors.js';
import {
  NewNodeBody,
  NodeBody,
  NodeId,
  NodeReply,
  PlaceBody,
  RemoteInbound,
  TestReply,
  UpdateResult,
} from './fields.js';
import type { NodeList } from './node-list.js';
import type { NodeService } from './node-service.js';
import { nodeVersion, type NodeStore } from './node-store.js';
import { DescendantReply } from './status/descendants.js';
import { Bucket, HistoryReply, MetricName, type NodeHistory } from './status/history.js';

const PATH = '/panel/api/nodes';
const MOST_UPDATED = 200;

interface Scope {
  readonly nodes: NodeList;
  readonly service: NodeService;
  readonly tools: RemoteTools;
  readonly history: NodeHistory;
  readonly store: NodeStore;
}

export const routes = ({ nodes, service, tools, history, store }: Scope): Route[] => [
  route({
    method: 'GET',
    path: `${PATH}/list`,
    name: 'nodes.list',
    doc: 'The nodes of this panel, then those below them (transitive, read-only). Tokens are never returned.',
    reply: payload(list(NodeReply)),
    handle: () => nodes.shown(),
  }),
  route({
    method: 'GET',
    path: `${PATH}/get/{id}`,
    name: 'nodes.get',
    doc: 'One node.',
    params: NodeId,
    reply: payload(NodeReply),
    errors: [errors.NOT_FOUND],
    handle: ({ params }) => nodes.shownOne(params.id),
  }),
  route({
    method: 'POST',
    path: `${PATH}/add`,
    name: 'nodes.add',
    form: true,
    doc: 'Adds a node. An enabled one must answer first (6 s); otherwise nothing is saved.',
    body: NewNodeBody,
    reply: message(),
    errors: [errors.NAME_TAKEN, errors.TOO_MANY, errors.NO_TOKEN, errors.UNREACHABLE],
    handle: async (input) => {
      await once<null>(input, async (note) => {
        await service.add(input.body, input.who, () => note?.(null));
        return null;
      });
    },
  }),
  nodeVersion.guarded(
    route({
      method: 'POST',
      path: `${PATH}/update/{id}`,
      name: 'nodes.update',
      form: true,
      doc: 'Changes what is sent and leaves the rest. A blank apiToken keeps the stored one; clearApiToken removes it.',
      params: NodeId,
      body: NodeBody,
      reply: message(),
      errors: [errors.NOT_FOUND, errors.NAME_TAKEN, errors.NO_TOKEN, errors.TOKEN_STAYS],
      handle: ({ params, body, who }) => service.update(params.id, body, who),
    }),
    ({ id }: { readonly id: number }) => nodes.shownOne(id),
  ),
  nodeVersion.guarded(
    route({
      method: 'POST',
      path: `${PATH}/del/{id}`,
      name: 'nodes.delete',
      doc: 'Deletes a node, with its history. Refused while an inbound runs on it.',
      params: NodeId,
      reply: message(),
      errors: [errors.NOT_FOUND, errors.IN_USE],
      handle: ({ params, who }) => service.delete(params.id, who),
    }),
    ({ id }: { readonly id: number }) => nodes.shownOne(id),
  ),
  nodeVersion.guarded(
    route({
      method: 'POST',
      path: `${PATH}/setEnable/{id}`,
      name: 'nodes.setEnable',
      form: true,
      doc: 'Enables or disables a node. A disabled one is not called, and its status stays as it was.',
      params: NodeId,
      body: shape({ enable: bool() }).example({ enable: false }),
      reply: message(),
      errors: [errors.NOT_FOUND, errors.NO_TOKEN],
      handle: ({ params, body, who }) => service.setEnable(params.id, body.enable, who),
    }),
    ({ id }: { readonly id: number }) => nodes.shownOne(id),
  ),
  route({
    method: 'POST',
    path: `${PATH}/test`,
    name: 'nodes.test',
    form: true,
    doc: 'Calls a panel as it would be called as a node, and saves nothing. With the id of a node, its token and other fields are used where the body has none.',
    body: PlaceBody,
    reply: payload(TestReply),
    errors: [errors.NOT_FOUND, errors.TOKEN_STAYS],
    handle: ({ body, who }) => service.test(body, who),
  }),
  route({
    method: 'POST',
    path: `${PATH}/probe/{id}`,
    name: 'nodes.probe',
    doc: 'Calls a node now, and takes the result into its status as a heartbeat does.',
    params: NodeId,
    reply: payload(TestReply),
    errors: [errors.NOT_FOUND],
    handle: ({ params }) => service.probe(params.id),
  }),
  route({
    method: 'POST',
    path: `${PATH}/certFingerprint`,
    name: 'nodes.certFingerprint',
    form: true,
    doc: 'The SHA-256 of the certificate of a server in base64, for pinnedCertSha256. Compare it with the certificate on the node.',
    body: PlaceBody,
    reply: payload(text()),
    errors: [errors.NO_HTTPS, errors.FAILED, errors.NOT_FOUND, errors.TOKEN_STAYS],
    handle: ({ body, who }) => tools.fingerprint(service.target(body, who)),
  }),
  route({
    method: 'POST',
    path: `${PATH}/inbounds`,
    name: 'nodes.inbounds',
    form: true,
    doc: 'The inbounds that a panel has, to choose from.',
    body: PlaceBody,
    reply: payload(list(RemoteInbound)),
    errors: [errors.FAILED, errors.NOT_FOUND, errors.TOKEN_STAYS],
    handle: ({ body, who }) => tools.inbounds(service.target(body, who)),
  }),
  route({
    method: 'GET',
    path: `${PATH}/webCert/{id}`,
    name: 'nodes.webCert',
    doc: 'Paths on the node of the certificate and the key of its panel.',
    params: NodeId,
    reply: payload(shape({ webCertFile: text(), webKeyFile: text() })),
    errors: [errors.NOT_FOUND, errors.DISABLED, errors.FAILED],
    handle: ({ params }) => tools.webCert(params.id),
  }),
  route({
    method: 'POST',
    path: `${PATH}/updatePanel`,
    name: 'nodes.updatePanel',
    doc: 'Starts an update of the panels on these nodes, with a result for each; only enabled nodes that are online.',
    body: shape({
      ids: list(int().min(1)).max(MOST_UPDATED),
      dev: optional(bool()),
    }).example({ ids: [1], dev: false }),
    reply: payload(list(UpdateResult)),
    handle: ({ body, reply, who }) =>
      holdingOpen(reply.progressed, () => tools.update(body.ids, body.dev ?? false, who)),
  }),
  route({
    method: 'GET',
    path: `${PATH}/history/{id}/{metric}/{bucket}`,
    name: 'nodes.history',
    doc: 'The last sixty points of a metric of a node, oldest first, as means over `bucket` seconds; points without a sample are left out.',
    params: shape({ id: int().min(1).example(1), metric: MetricName(), bucket: Bucket() }),
    reply: payload(HistoryReply),
    errors: [errors.NOT_FOUND],
    handle: ({ params }) => {
      store.require(params.id);
      return history.last(params.id, params.metric, params.bucket);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/x/nodes/acceptGuid/{id}',
    name: 'nodes.acceptGuid',
    doc: 'Says that the panel that answers there now is the right one, after another one has taken its place.',
    params: NodeId,
    reply: message(),
    errors: [errors.NOT_FOUND],
    handle: ({ params, who }) => service.acceptGuid(params.id, who),
  }),
  route({
    method: 'GET',
    path: '/panel/api/server/descendants',
    name: 'server.descendants',
    doc: 'The nodes of this panel whose guid is known, and all below them. A central panel reads it.',
    reply: payload(list(DescendantReply)),
    handle: () => [...nodes.published()],
  }),
];

import { int, list, message, payload, type Route, route, shape, text } from '../../kernel/index.js';
import { clusterErrors } from '../cluster/contract.js';
import type { NodesApi } from '../nodes/contract.js';
import type { DesiredRecords } from './desired-records.js';
import { errors } from './errors.js';
import type { Synchroniser } from './synchroniser.js';

const PREFIX = '/panel/api/x/node-sync';
const MOST_REFUSED = 1_000;
const OfNode = shape({ id: int().min(1) });

const State = shape({
  nodeId: int(),
  name: text(),
  pending: int().description('records that wait to be sent'),
  refused: int().description('records that the node does not have in force'),
  sentAt: int().description('Unix ms; 0 for never since the panel runs'),
  comparedAt: int().description('Unix ms; 0 for never since the panel runs'),
  problem: text().description(
    'why it does not get changes, is not compared, or its usage is not read; blank when all is well',
  ),
});

export const routes = ({
  nodes,
  records,
  synchroniser,
}: {
  readonly nodes: NodesApi;
  readonly records: DesiredRecords;
  readonly synchroniser: Synchroniser;
}): Route[] => {
  const required = (id: number): number => {
    if (!nodes.get(id)) throw errors.NO_NODE(undefined, { path: 'id' });
    return id;
  };
  return [
    route({
      method: 'GET',
      path: PREFIX,
      name: 'nodeSync.list',
      doc: 'How each node is kept: what waits, what it refuses, and what is wrong.',
      reply: payload(list(State)),
      handle: () => synchroniser.states(),
    }),
    route({
      method: 'GET',
      path: `${PREFIX}/{id}/refused`,
      name: 'nodeSync.refused',
      doc: 'Inbounds and clients that the node does not have in force, with its words; the first thousand.',
      params: OfNode,
      reply: payload(list(shape({ kind: text(), id: int(), reason: text() }))),
      errors: [errors.NO_NODE],
      handle: async ({ params }) =>
        (await records.refused(required(params.id), MOST_REFUSED)).map(({ kind, id, refused }) => ({
          kind,
          id,
          reason: refused,
        })),
    }),
    route({
      method: 'POST',
      path: `${PREFIX}/{id}/reconcile`,
      name: 'nodeSync.reconcile',
      doc: 'Compares the node with what it should be, now, and sends what differs again.',
      params: OfNode,
      reply: message(),
      errors: [errors.NO_NODE, clusterErrors.NOT_LEADING],
      handle: async ({ params }) => {
        synchroniser.requireLead();
        const differing = await synchroniser.reconcile(required(params.id));
        return differing === 0 ? 'nothing differs' : `${differing} records were sent again`;
      },
    }),
  ];
};

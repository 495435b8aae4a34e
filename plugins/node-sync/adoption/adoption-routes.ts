import {
  bool,
  int,
  list,
  message,
  oneOf,
  payload,
  type Route,
  route,
  shape,
  text,
} from '../../../kernel/index.js';
import { clusterErrors } from '../../cluster/contract.js';
import type { InboundsApi } from '../../inbounds/contract.js';
import { NodeCallError, type NodesApi } from '../../nodes/contract.js';
import { errors } from '../errors.js';
import { UnreadableReply } from '../replies.js';
import type { Synchroniser } from '../synchroniser.js';
import type { Adopter } from './adopter.js';
import type { AdoptionStore } from './adoption-store.js';

const PREFIX = '/panel/api/x/node-sync';
const MOST_LEFT = 1_000;
const OfNode = shape({ id: int().min(1) });

const Adoption = shape({
  mode: oneOf('all', 'selected'),
  inboundTags: list(text()).description('in the mode selected: tags as the node has them'),
  problem: text().description('why nothing is adopted; blank when all is well'),
  adopted: list(
    shape({
      inboundId: int().description('id here'),
      remoteId: int().description('id at the node'),
      tag: text().description('here'),
      remoteTag: text().description('at the node'),
      originGuid: text().description('of the panel on the machine that runs it'),
      isDone: bool().description('all its clients were looked at, and the node knows'),
    }),
  ),
  left: list(
    shape({
      kind: oneOf('inbound', 'client'),
      remoteId: int().description('id at the node'),
      name: text().description('tag or email'),
      reason: text(),
    }),
  ).description('what stays as it is on the node; the first thousand'),
});

export const adoptionRoutes = ({
  nodes,
  inbounds,
  adopter,
  adoptions,
  synchroniser,
}: {
  readonly nodes: NodesApi;
  readonly inbounds: InboundsApi;
  readonly adopter: Adopter;
  readonly adoptions: AdoptionStore;
  readonly synchroniser: Synchroniser;
}): Route[] => {
  const required = (id: number) => {
    const node = nodes.get(id);
    if (!node) throw errors.NO_NODE(undefined, { path: 'id' });
    return node;
  };
  return [
    route({
      method: 'GET',
      path: `${PREFIX}/{id}/adoption`,
      name: 'nodeSync.adoption',
      doc: 'Which inbounds of the node were adopted, and what was not and why.',
      params: OfNode,
      reply: payload(Adoption),
      errors: [errors.NO_NODE],
      handle: async ({ params }) => {
        const { id, guid, inboundSyncMode: mode, inboundTags } = required(params.id);
        const adopted = adoptions
          .ofNode(id)
          .map(({ inboundId, remoteId, remoteTag, originGuid, isDone }) => ({
            ...{ inboundId, remoteId, remoteTag, isDone },
            tag: inbounds.get(inboundId)?.tag ?? '',
            originGuid: originGuid || guid,
          }));
        const left = (await adoptions.left(id, MOST_LEFT)).map(({ kind, remoteId, name, reason }) => ({
          kind: kind === 'client' ? ('client' as const) : ('inbound' as const),
          ...{ remoteId, name, reason },
        }));
        return { mode, inboundTags: [...inboundTags], problem: adopter.problem(id), adopted, left };
      },
    }),
    route({
      method: 'POST',
      path: `${PREFIX}/{id}/adopt`,
      name: 'nodeSync.adopt',
      doc: 'Looks at all that the node has now, also at clients that were left, and adopts what is selected.',
      params: OfNode,
      reply: message(),
      errors: [errors.NO_NODE, errors.NO_ANSWER, errors.OTHER_KIND, clusterErrors.NOT_LEADING],
      handle: async ({ params }) => {
        synchroniser.requireLead();
        const { id } = required(params.id);
        await synchroniser.adopt(id).catch((error: unknown) => {
          const isOfNode = error instanceof NodeCallError || error instanceof UnreadableReply;
          throw isOfNode ? errors.NO_ANSWER(error.message) : error;
        });
        const problem = adopter.problem(id);
        const left = (await adoptions.left(id, MOST_LEFT)).filter(({ reason }) => reason !== 'not selected');
        const adopted = `${adoptions.ofNode(id).length} inbounds of the node are adopted`;
        return (
          problem || (left.length === 0 ? adopted : `${adopted}; ${left.length} inbounds and clients are not`)
        );
      },
    }),
    route({
      method: 'POST',
      path: `${PREFIX}/{id}/release`,
      name: 'nodeSync.release',
      doc: 'Gives inbounds back to their node: they are deleted here, and go on there as they are, without this panel. Their clients stay here too, and their tags are deselected. Refused in the mode all.',
      params: OfNode,
      body: shape({ inboundIds: list(int().min(1)).max(1_000) }).example({ inboundIds: [1] }),
      reply: message(),
      errors: [errors.NO_NODE, errors.NOT_THERE, errors.ALL_MODE, clusterErrors.NOT_LEADING],
      handle: async ({ params, body, who }) => {
        synchroniser.requireLead();
        const { id, inboundSyncMode } = required(params.id);
        if (inboundSyncMode === 'all') throw errors.ALL_MODE(undefined, { path: 'id' });
        for (const [i, inboundId] of body.inboundIds.entries())
          if (inbounds.get(inboundId)?.nodeId !== id)
            throw errors.NOT_THERE(`inbound ${inboundId} does not run on this node`, {
              path: `inboundIds.${i}`,
            });
        await synchroniser.release(id, body.inboundIds, who);
        return `${body.inboundIds.length} inbounds were given back`;
      },
    }),
  ];
};

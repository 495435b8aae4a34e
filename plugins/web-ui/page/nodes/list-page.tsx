// The nodes of this panel and those below them, as a tree.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { shownName } from '../format/names.js';
import { isAbsent } from '../api/trouble.js';
import { useReader } from '../language/context.js';
import { Permitted } from '../parts/permitted.js';
import { usePortion } from '../parts/portion.js';
import { Problem } from '../parts/problem.js';
import { NodeSwitch } from './node-switch.js';
import { typedPlace } from './place.js';
import { nodeSyncQuery, nodesQuery } from './queries.js';
import type { NodeSync } from './state.js';
import { StateLine } from './state-line.js';
import { type Branch, treeOf } from './tree.js';
import './nodes.css';

export function NodesPage() {
  const { say } = useReader();
  const list = useQuery(nodesQuery);
  const sync = useQuery(nodeSyncQuery).data;
  const { shown, more } = usePortion(treeOf(list.data ?? []));
  if (isAbsent(list.error)) return <p className="page">{say('nodes.absent')}</p>;
  return (
    <div className="page">
      <div className="page-head">
        <h1>{say('nodes.title')}</h1>
        <Permitted needs={['nodes:write']}>
          <Link to="/node/new" className="button main">
            {say('nodes.add')}
          </Link>
        </Permitted>
      </div>
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <p role="status">{say('loading')}</p>}
      {list.data?.length === 0 && <p className="muted">{say('nodes.none')}</p>}
      {list.data && list.data.length > 0 && (
        <ul className="nodes">
          {shown.map((branch) => (
            <Row
              key={branch.key}
              branch={branch}
              sync={sync?.find(({ nodeId }) => !branch.node.transitive && nodeId === branch.node.id)}
            />
          ))}
        </ul>
      )}
      {more}
    </div>
  );
}

function Row({ branch: { node, depth }, sync }: { branch: Branch; sync: NodeSync | undefined }) {
  const { say, format } = useReader();
  const { name, guid, transitive, status, latencyMs, panelVersion, inboundCount, clientCount } = node;
  const shown = shownName(name || guid);
  return (
    <li className="card node" data-depth={Math.min(depth, 4)}>
      <div className="card-head">
        <div className="node-name">
          {transitive ? (
            <strong>
              <bdi>{shown}</bdi>
            </strong>
          ) : (
            <Link to="/node" search={{ id: String(node.id), edit: undefined }}>
              <bdi>{shown}</bdi>
            </Link>
          )}
          {transitive && <span className="tag">{say('nodes.below')}</span>}
        </div>
        {!transitive && <NodeSwitch node={node} />}
      </div>
      <StateLine node={node} sync={sync} />
      <p className="node-facts muted">
        {!transitive && (
          <bdi dir="ltr" className="clip">
            {typedPlace(node)}
          </bdi>
        )}
        {status === 'online' && <span>{say('nodes.latency', { ms: format.number(latencyMs) })}</span>}
        {panelVersion !== '' && <bdi>{say('nodes.version', { version: shownName(panelVersion) })}</bdi>}
        <span>{say('nodes.carries', { inbounds: inboundCount, clients: clientCount })}</span>
        {sync !== undefined && sync.pending > 0 && (
          <span className="warn">{say('nodes.pending', { count: sync.pending })}</span>
        )}
        {sync !== undefined && sync.refused > 0 && (
          <span className="field-problem">{say('nodes.refused', { count: sync.refused })}</span>
        )}
      </p>
    </li>
  );
}

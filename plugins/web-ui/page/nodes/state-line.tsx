// The state of a node in one line, and why it is not well in those below.
import { useReader } from '../language/context.js';
import { type NodeSync, stateOf } from './state.js';
import type { PanelNode } from './tree.js';

export function StateLine({ node, sync }: { node: PanelNode; sync: NodeSync | undefined }) {
  const { say, format } = useReader();
  const { level, text, reasons } = stateOf(node, sync);
  const seenMs = node.lastHeartbeat * 1000;
  const isSeen = seenMs > 0 && node.status !== 'online';
  return (
    <div className="node-state">
      <span className="node-level" data-level={level}>
        <span className="dot" aria-hidden />
        {say(text)}
      </span>{' '}
      {isSeen && (
        <span className="muted" title={format.exactly(seenMs)}>
          {say('nodes.lastSeen', { time: format.distance(seenMs, Date.now()) })}
        </span>
      )}
      {seenMs === 0 && node.status !== 'online' && <span className="muted">{say('nodes.neverSeen')}</span>}
      {reasons.map((reason) => (
        <p key={reason} className="said" dir="auto">
          {reason}
        </p>
      ))}
    </div>
  );
}

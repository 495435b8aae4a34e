// The panel and the machine of a node, as its last heartbeat told them.
import type { ReactNode } from 'react';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { typedPlace } from './place.js';
import type { PanelNode } from './tree.js';

export function Machine({ node }: { node: PanelNode }) {
  const { say, format } = useReader();
  const isKnown = node.lastHeartbeat > 0;
  const facts: (readonly [string, ReactNode])[] = [
    [
      say('nodes.field.place'),
      <bdi key="place" dir="ltr">
        {typedPlace(node)}
      </bdi>,
    ],
  ];
  if (isKnown)
    facts.push(
      [say('nodes.fact.latency'), say('nodes.latency', { ms: format.number(node.latencyMs) })],
      [say('nodes.fact.panel'), <bdi key="panel">{shownName(node.panelVersion)}</bdi>],
      [say('nodes.fact.core'), <bdi key="core">{shownName(node.engineVersion)}</bdi>],
      [say('nodes.fact.uptime'), format.duration(node.uptimeSecs * 1000)],
      [say('tiles.cpu'), format.percent(node.cpuPct / 100)],
      [say('tiles.memory'), format.percent(node.memPct / 100)],
      [
        say('tiles.network'),
        say('tiles.networkNote', { down: format.rate(node.netDown), up: format.rate(node.netUp) }),
      ],
      [say('nodes.fact.online'), format.number(node.onlineCount)],
      [say('nodes.fact.seen'), format.exactly(node.lastHeartbeat * 1000)],
    );
  return (
    <section className="card" aria-labelledby="machine">
      <h2 id="machine">{say('nodes.machine')}</h2>
      <dl className="machine-facts">
        {facts.map(([name, value]) => (
          <div key={name} className="fact">
            <dt className="muted">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {node.remark !== '' && (
        <p className="muted">
          <bdi>{shownName(node.remark)}</bdi>
        </p>
      )}
    </section>
  );
}

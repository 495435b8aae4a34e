// Why this client can connect or not.
import { useQuery } from '@tanstack/react-query';
import { CircleCheck, CircleX, TriangleAlert } from 'lucide-react';
import type { ClientsGetReply } from '../../../../sdk/index.js';
import { inboundsQuery, statusQuery } from '../api/queries.js';
import { useReader } from '../language/context.js';
import { levelOf, usedBytes, verdictOf } from './state.js';

const ICONS = { good: CircleCheck, warn: TriangleAlert, bad: CircleX } as const;

export function VerdictLine({ client }: { client: ClientsGetReply }) {
  const { say, format } = useReader();
  const status = useQuery(statusQuery).data;
  const inbounds = useQuery(inboundsQuery).data;
  const now = Date.now();
  const { state, text } = verdictOf(client, now, {
    isCoreUp: status ? status.engine.state === 'running' : undefined,
    enabledInbounds: inbounds && new Set(inbounds.filter(({ enable }) => enable).map(({ id }) => id)),
  });
  const level = levelOf(state);
  const Icon = ICONS[level];
  return (
    <p className="verdict" data-level={level} data-state={state} role="status">
      <Icon size={20} aria-hidden />
      <span>
        {say(text, {
          used: format.bytes(usedBytes(client)),
          quota: format.bytes(client.totalGB),
          hasQuota: client.totalGB > 0 ? 'yes' : 'no',
          hasEnd: client.expiryTime > 0 ? 'yes' : 'no',
          end: format.moment(Math.max(0, client.expiryTime)),
          length: format.duration(Math.max(0, -client.expiryTime)),
        })}
      </span>
    </p>
  );
}

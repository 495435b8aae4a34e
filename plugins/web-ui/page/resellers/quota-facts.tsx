// What a reseller has of its quotas, as entries of a list of facts: in its own view and in that of full admins.
import { useReader } from '../language/context.js';
import { Meter } from '../parts/meter.js';

export interface Quotas {
  readonly clients: number;
  readonly maxClients: number;
  /** bytes */
  readonly givenBytes: number;
  readonly maxBytes: number;
  readonly maxDays: number;
}

export function QuotaFacts({ of: { clients, maxClients, givenBytes, maxBytes, maxDays } }: { of: Quotas }) {
  const { say, format } = useReader();
  return (
    <>
      <dt>{say('clients.title')}</dt>
      <dd>
        {maxClients > 0
          ? say('usage.of', { used: format.number(clients), all: format.number(maxClients) })
          : format.number(clients)}
      </dd>
      <dt>{say('resellers.given')}</dt>
      <dd>
        {maxBytes > 0
          ? say('usage.of', { used: format.bytes(givenBytes), all: format.bytes(maxBytes) })
          : format.bytes(givenBytes)}
        {maxBytes > 0 && <Meter share={givenBytes / maxBytes} label={say('resellers.given')} />}
      </dd>
      {maxDays > 0 && (
        <>
          <dt>{say('resellers.maxDays')}</dt>
          <dd>{format.number(maxDays)}</dd>
        </>
      )}
    </>
  );
}

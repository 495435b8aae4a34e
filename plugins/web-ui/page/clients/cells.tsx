// The cells of a client's row, by column.
import type { FunctionComponent } from 'react';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import type { ClientRow } from '../live/patches.js';
import { Meter } from '../parts/meter.js';
import type { Column } from './columns.js';
import { isOnline, levelOf, stateOf, usedBytes, usedShare } from './state.js';

interface CellProps {
  readonly client: ClientRow;
}

export function Ends({ expiryTime, now }: { expiryTime: number; now: number }) {
  const { say, format } = useReader();
  if (expiryTime === 0) return <>{say('ends.never')}</>;
  if (expiryTime < 0) return <>{say('ends.fromFirstUse', { time: format.duration(-expiryTime) })}</>;
  return (
    <time dateTime={format.iso(expiryTime)} title={format.exactly(expiryTime)}>
      {format.distance(expiryTime, now)}
    </time>
  );
}

function State({ client }: CellProps) {
  const { say } = useReader();
  const state = stateOf(client, Date.now());
  return (
    <div role="gridcell" className="cell state">
      <span className="badge" data-level={levelOf(state)}>
        {say(`state.${state}`)}
      </span>
    </div>
  );
}

function Usage({ client }: CellProps) {
  const { say, format } = useReader();
  const { expiryTime, totalGB } = client;
  const share = usedShare(client);
  const used = format.bytes(usedBytes(client));
  return (
    <div role="gridcell" className="cell usage">
      {share === undefined ? (
        <span className="meter-gap" aria-hidden />
      ) : (
        <Meter share={share} label={say('column.usage')} />
      )}
      <span className="number">
        {totalGB > 0 ? say('usage.of', { used, all: format.bytes(totalGB) }) : used}
        {expiryTime !== 0 && (
          <span className="only-narrow">
            {' · '}
            <Ends expiryTime={expiryTime} now={Date.now()} />
          </span>
        )}
      </span>
    </div>
  );
}

function Seen({ client }: CellProps) {
  const { say, format } = useReader();
  const now = Date.now();
  const online = isOnline(client, now);
  const lastOnline = client.traffic?.lastOnline ?? 0;
  return (
    <div role="gridcell" className="cell seen" data-online={online || undefined}>
      {online && <span className="dot" aria-hidden />}
      {online ? say('seen.now') : lastOnline > 0 ? format.distance(lastOnline, now) : say('seen.never')}
    </div>
  );
}

function Created({ client: { createdAt } }: CellProps) {
  const { format } = useReader();
  return (
    <div role="gridcell" className="cell created">
      <time dateTime={format.iso(createdAt)} title={format.exactly(createdAt)}>
        {format.distance(createdAt, Date.now())}
      </time>
    </div>
  );
}

export const CELLS: Readonly<Record<Column, FunctionComponent<CellProps>>> = {
  state: State,
  usage: Usage,
  ends: ({ client: { expiryTime } }) => (
    <div role="gridcell" className="cell ends">
      <Ends expiryTime={expiryTime} now={Date.now()} />
    </div>
  ),
  seen: Seen,
  comment: ({ client: { comment } }) => (
    <div role="gridcell" className="cell comment">
      <bdi title={shownName(comment)}>{shownName(comment)}</bdi>
    </div>
  ),
  created: Created,
};

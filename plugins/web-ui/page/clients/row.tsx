// One client of the list.
import { Link } from '@tanstack/react-router';
import { QrCode } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import type { ClientRow } from '../live/patches.js';
import { ClientName } from '../parts/client-name.js';
import { Meter } from '../parts/meter.js';
import { ChooseBox } from './choose-box.js';
import { ClientSwitch } from './client-switch.js';
import { isOnline, levelOf, stateOf, usedBytes, usedShare } from './state.js';

export interface Place {
  readonly index: number;
  /** px from the top */
  readonly start: number;
  readonly height: number;
  /** the row that keys start from */
  readonly isCurrent: boolean;
  readonly enter: (index: number) => void;
  /** undefined where clients cannot be chosen */
  readonly isChosen?: boolean | undefined;
}

function RowBox({ place, children, isBusy }: { place: Place; children: ReactNode; isBusy?: boolean }) {
  const { index, start, height, isCurrent, enter } = place;
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-busy={isBusy}
      data-index={index}
      className="row"
      tabIndex={isCurrent ? 0 : -1}
      style={{ height, transform: `translateY(${start}px)` }}
      onFocus={() => enter(index)}
    >
      {children}
    </div>
  );
}

interface RowProps {
  readonly client: ClientRow;
  readonly place: Place;
  readonly toggle: (client: ClientRow) => void;
}

export const Row = memo(function Row({ client, place, toggle }: RowProps) {
  const { say, format } = useReader();
  const now = Date.now();
  const { email, expiryTime, totalGB, traffic, group } = client;
  const state = stateOf(client, now);
  const share = usedShare(client);
  const used = format.bytes(usedBytes(client));
  const lastOnline = traffic?.lastOnline ?? 0;
  const online = isOnline(client, now);
  return (
    <RowBox place={place}>
      <div role="gridcell" className="cell email">
        {place.isChosen !== undefined && (
          <ChooseBox
            label={say('bulk.choose', { name: shownName(email) })}
            isChosen={place.isChosen}
            toggle={() => toggle(client)}
          />
        )}
        <ClientSwitch client={client} />
        <ClientName email={email} />
        {group !== '' && <bdi className="tag">{shownName(group)}</bdi>}
      </div>
      <div role="gridcell" className="cell state">
        <span className="badge" data-level={levelOf(state)}>
          {say(`state.${state}`)}
        </span>
      </div>
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
              <Ends expiryTime={expiryTime} now={now} />
            </span>
          )}
        </span>
      </div>
      <div role="gridcell" className="cell ends">
        <Ends expiryTime={expiryTime} now={now} />
      </div>
      <div role="gridcell" className="cell seen" data-online={online || undefined}>
        {online && <span className="dot" aria-hidden />}
        {online ? say('seen.now') : lastOnline > 0 ? format.distance(lastOnline, now) : say('seen.never')}
      </div>
      <div role="gridcell" className="cell acts">
        <Link
          to="/client"
          search={{ name: email, edit: undefined }}
          hash="links"
          className="button quiet small"
          aria-label={say('share.of', { name: shownName(email) })}
        >
          <QrCode size={16} aria-hidden />
          <span>{say('share')}</span>
        </Link>
      </div>
    </RowBox>
  );
}, isSameRow);

/** A row is drawn again when its client or its place has changed; relative times follow with the next figures. */
function isSameRow(a: RowProps, b: RowProps): boolean {
  return (
    a.client === b.client &&
    a.place.start === b.place.start &&
    a.place.height === b.place.height &&
    a.place.isCurrent === b.place.isCurrent &&
    a.place.isChosen === b.place.isChosen &&
    a.toggle === b.toggle
  );
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

export function RowSkeleton({ place }: { place: Place }) {
  const { say } = useReader();
  return (
    <RowBox place={place} isBusy>
      <div role="gridcell" className="cell email" aria-label={say('loading')}>
        <span className="skeleton" />
      </div>
    </RowBox>
  );
}

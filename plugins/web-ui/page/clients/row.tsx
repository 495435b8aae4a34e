// One client of the list.
import { Link } from '@tanstack/react-router';
import { QrCode } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import type { ClientRow } from '../live/patches.js';
import { ClientName } from '../parts/client-name.js';
import { ChooseBox } from './choose-box.js';
import { ClientSwitch } from './client-switch.js';
import { CELLS } from './cells.js';
import type { Column } from './columns.js';

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
  readonly columns: readonly Column[];
  readonly place: Place;
  readonly toggle: (client: ClientRow) => void;
}

export const Row = memo(function Row({ client, columns, place, toggle }: RowProps) {
  const { say } = useReader();
  const { email, group } = client;
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
      {columns.map((column) => {
        const Cell = CELLS[column];
        return <Cell key={column} client={client} />;
      })}
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
    a.columns === b.columns &&
    a.place.start === b.place.start &&
    a.place.height === b.place.height &&
    a.place.isCurrent === b.place.isCurrent &&
    a.place.isChosen === b.place.isChosen &&
    a.toggle === b.toggle
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

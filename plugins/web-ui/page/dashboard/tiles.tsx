// Figures of this moment. A tile whose plugin does not run is not there.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { statusQuery, summaryQuery, todayQuery } from '../api/queries.js';
import { viewOf } from '../clients/view.js';
import { useReader } from '../language/context.js';
import { Meter } from '../parts/meter.js';

export function Tiles() {
  const { say, format } = useReader();
  const known = useQuery(summaryQuery).data;
  const summary = known ?? undefined;
  const today = useQuery(todayQuery).data;
  const status = useQuery(statusQuery).data;
  const memory = status?.mem;
  const disk = status?.disk;
  return (
    <section className="tiles" aria-label={say('tiles.label')}>
      {known !== null && (
        <Tile
          label={say('tiles.online')}
          value={summary && format.number(summary.onlineCount)}
          note={summary && say('tiles.onlineOf', { all: summary.all })}
          link={{ status: 'online' }}
        />
      )}
      {today !== null && (
        <Tile
          label={say('tiles.today')}
          value={today && format.bytes(today.up + today.down)}
          note={today && say('tiles.todayBy', { count: today.clients })}
        />
      )}
      {status !== null && (
        <>
          <Tile
            label={say('tiles.cpu')}
            value={status && format.percent(status.cpu / 100)}
            note={status && say('tiles.cores', { count: status.logicalPro })}
            share={status && status.cpu / 100}
          />
          <Tile
            label={say('tiles.memory')}
            value={memory && format.percent(shareOf(memory))}
            note={
              memory &&
              say('tiles.of', { used: format.bytes(memory.current), all: format.bytes(memory.total) })
            }
            share={memory && shareOf(memory)}
          />
          <Tile
            label={say('tiles.disk')}
            value={disk && format.percent(shareOf(disk))}
            note={
              disk && say('tiles.of', { used: format.bytes(disk.current), all: format.bytes(disk.total) })
            }
            share={disk && shareOf(disk)}
          />
          <Tile
            label={say('tiles.network')}
            value={status && format.rate(status.netIO.down + status.netIO.up)}
            note={
              status &&
              say('tiles.networkNote', {
                down: format.rate(status.netIO.down),
                up: format.rate(status.netIO.up),
              })
            }
          />
        </>
      )}
    </section>
  );
}

const shareOf = ({ current, total }: { current: number; total: number }): number =>
  total > 0 ? current / total : 0;

interface TileProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly note?: string | undefined;
  readonly share?: number | undefined;
  readonly link?: { readonly status: string };
}

function Tile({ label, value, note, share, link }: TileProps) {
  const name: ReactNode = link ? (
    <Link to="/clients" search={viewOf(link)}>
      {label}
    </Link>
  ) : (
    label
  );
  return (
    <div className="tile">
      <div className="tile-label">{name}</div>
      <div className="tile-value">{value ?? '…'}</div>
      {share !== undefined && <Meter share={share} label={label} isLoad />}
      {note !== undefined && <div className="tile-note">{note}</div>}
    </div>
  );
}

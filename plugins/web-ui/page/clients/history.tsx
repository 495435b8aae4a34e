// Who changed a client, and what.
import { useQuery } from '@tanstack/react-query';
import { weir } from '../api/panel.js';
import { clientPartQuery } from '../api/queries.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import type { MessageKey } from '../language/message-key.js';
import { notifyTrouble } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { UndoButton } from '../parts/undo-button.js';
import { refreshClients } from './refresh.js';

const MOST = 20;
const KINDS: Readonly<Record<string, MessageKey>> = {
  added: 'history.added',
  updated: 'history.updated',
  deleted: 'history.deleted',
};

export function History({ email }: { email: string }) {
  const { say, format } = useReader();
  const history = useQuery(
    clientPartQuery(email, 'history', (signal) =>
      weir.audit.changes({ query: { area: 'client', name: email, limit: MOST } }, { signal }),
    ),
  );
  return (
    <section className="card" aria-labelledby="history">
      <h2 id="history">{say('history.title')}</h2>
      {history.error && <Problem error={history.error} retry={() => void history.refetch()} />}
      {history.data?.length === 0 && <p className="muted">{say('history.none')}</p>}
      {(history.data?.length ?? 0) > 0 && (
        <ol className="lines">
          {history.data?.map(({ id, entry, at, who, kind, fields, undoable }, index, all) => {
            const names = Object.keys(fields);
            return (
              <li key={id}>
                <div>
                  <span>
                    {say(KINDS[kind] ?? 'history.updated')}
                    {names.length > 0 && (
                      <>
                        {': '}
                        <bdi dir="ltr">{names.slice(0, 6).map(shownName).join(', ')}</bdi>
                      </>
                    )}
                  </span>
                  <span className="muted">
                    <bdi>{shownName(who)}</bdi> ·{' '}
                    <time dateTime={format.iso(at)} title={format.exactly(at)}>
                      {format.moment(at)}
                    </time>
                  </span>
                </div>
                {undoable && all.findIndex((other) => other.entry === entry) === index && (
                  <UndoButton entry={entry} at={at} failed={notifyTrouble} settled={refreshClients} />
                )}
              </li>
            );
          })}
        </ol>
      )}
    </section>
  );
}

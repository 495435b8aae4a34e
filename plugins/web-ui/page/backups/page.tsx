// Backups: those that there are, a new one, and a way back to each.
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { isAbsent } from '../api/trouble.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { notify, notifyTrouble } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { BackupRow, type Backup } from './backup-row.js';
import { backupListQuery, backupWorkQuery } from './queries.js';
import { RestoreSheet } from './restore-sheet.js';
import { Schedule } from './schedule.js';
import './backups.css';

export function BackupsPage() {
  const { say, format } = useReader();
  const list = useQuery(backupListQuery);
  const status = useQuery(backupWorkQuery);
  const [restored, setRestored] = useState<Backup>();
  const make = useMutation({
    mutationFn: () => weir.backup.run(),
    onMutate: () => queries.invalidateQueries({ queryKey: backupWorkQuery.queryKey }),
    onSuccess: ({ verification }) =>
      verification.state === 'verified'
        ? notify(say('backups.made'))
        : notifyTrouble(new Error(verification.problem)),
    onError: notifyTrouble,
    onSettled: () => queries.invalidateQueries({ queryKey: ['backup'] }),
  });
  if (isAbsent(status.error)) return <p className="page">{say('backups.absent')}</p>;
  const work = status.data?.work ?? '';
  return (
    <div className="page">
      <div className="page-head">
        <h1>{say('backups.title')}</h1>
        <Button
          className="button main"
          isPending={make.isPending}
          isDisabled={!make.isPending && work !== ''}
          onPress={() => make.mutate()}
        >
          {say('backups.make')}
        </Button>
      </div>
      <p role="status">
        {make.isPending || work !== '' ? `${say('backups.working')} ${shownName(work)}` : ''}
      </p>
      {status.error && <Problem error={status.error} retry={() => void status.refetch()} />}
      {status.data && status.data.problem !== '' && (
        <p className="said field-problem" dir="auto">
          {status.data.problem}
        </p>
      )}
      {status.data && (
        <p className="muted">
          {status.data.nextAt > 0
            ? say('backups.next', { time: format.moment(status.data.nextAt) })
            : say('backups.noSchedule')}
        </p>
      )}
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <p>{say('loading')}</p>}
      {list.data?.length === 0 && <p className="muted">{say('backups.none')}</p>}
      {list.data && list.data.length > 0 && (
        <ul className="backups">
          {list.data.map((backup) => (
            <BackupRow
              key={backup.manifest.name}
              backup={backup}
              restore={() => setRestored(backup)}
              isBusy={work !== '' || make.isPending}
            />
          ))}
        </ul>
      )}
      <Schedule />
      {restored && <RestoreSheet backup={restored} close={() => setRestored(undefined)} />}
    </div>
  );
}

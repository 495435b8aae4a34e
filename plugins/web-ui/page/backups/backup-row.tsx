// One backup of the list: what is in it, whether it can be restored, where copies are.
import { useMutation } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import type { BackupListReply } from '../../../../sdk/index.js';
import { panelUrl, weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { notify, notifyTrouble } from '../parts/notices.js';

export type Backup = BackupListReply[number];

export interface BackupRowProps {
  readonly backup: Backup;
  readonly restore: () => void;
  readonly isBusy: boolean;
}

export function BackupRow({ backup, restore, isBusy }: BackupRowProps) {
  const { say, format } = useReader();
  const { manifest, verification, copies, problem } = backup;
  const { name, createdAt, bytes, counts, encryption, release } = manifest;
  const time = format.moment(createdAt);
  const isVerified = verification.state === 'verified' && problem === '';
  const verify = useMutation({
    mutationFn: () => weir.backup.verify({ name, body: {} }),
    onSuccess: ({ verification: { state, problem: why } }) =>
      state === 'verified' ? notify(say('backups.isVerified')) : notifyTrouble(new Error(why)),
    onError: notifyTrouble,
    onSettled: () => queries.invalidateQueries({ queryKey: ['backup'] }),
  });
  return (
    <li className="card">
      <div className="card-head">
        <strong title={format.exactly(createdAt)}>{time}</strong>
        <span className="backup-state" data-level={isVerified ? 'good' : 'bad'}>
          <span className="dot" aria-hidden />
          {say(isVerified ? 'backups.verified' : 'backups.failed')}
        </span>
      </div>
      <p className="backup-facts muted">
        <bdi dir="ltr">{shownName(name)}</bdi>
        <span>{format.bytes(bytes)}</span>
        <span>{say('backups.counts', { clients: counts.clients, inbounds: counts.inbounds })}</span>
        <span>{say('backups.release', { release })}</span>
        {encryption !== '' && <span className="tag">{say('backups.encrypted')}</span>}
        <span>{say('backups.verifiedAt', { time: format.distance(verification.at, Date.now()) })}</span>
      </p>
      {[problem, verification.problem, ...Object.values(copies).map((copy) => copy.problem)]
        .filter((text) => text !== '')
        .map((text) => (
          <p key={text} className="said" dir="auto">
            {text}
          </p>
        ))}
      <div className="actions">
        <Button
          className="button small"
          aria-label={say('backups.verifyOf', { time })}
          isPending={verify.isPending}
          isDisabled={isBusy}
          onPress={() => verify.mutate()}
        >
          {say('backups.verify')}
        </Button>
        <a
          className="button small"
          href={new URL(`panel/api/x/backup/download/${encodeURIComponent(name)}`, panelUrl).href}
          download={name}
          aria-label={say('backups.downloadOf', { time })}
        >
          {say('backups.download')}
        </a>
        <Button
          className="button small risky"
          aria-label={say('backups.restoreOf', { time })}
          isDisabled={isBusy}
          onPress={restore}
        >
          {say('backups.restore')}
        </Button>
      </div>
    </li>
  );
}

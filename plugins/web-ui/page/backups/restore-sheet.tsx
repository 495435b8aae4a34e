// Goes back to a backup: what is lost and what changes, a name to type, and how far it is.
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { weir } from '../api/panel.js';
import { inboundsQuery, queries, summaryQuery } from '../api/queries.js';
import { useReader } from '../language/context.js';
import { Field } from '../parts/field.js';
import { Problem } from '../parts/problem.js';
import { Sheet } from '../parts/sheet.js';
import type { Backup } from './backup-row.js';
import { restoreOver } from './restoring.js';

type Step = 'asking' | 'checking' | 'restarting';

export function RestoreSheet({ backup, close }: { backup: Backup; close: () => void }) {
  const { say, format } = useReader();
  const { name, createdAt, counts, encryption } = backup.manifest;
  const clients = useQuery(summaryQuery).data?.all;
  const inbounds = useQuery(inboundsQuery).data?.length;
  const [typed, setTyped] = useState('');
  const [secret, setSecret] = useState('');
  const [takesHost, setTakesHost] = useState(false);
  const [step, setStep] = useState<Step>('asking');
  const restore = useMutation({
    mutationFn: async () => {
      const since = (await weir.backup.lastRestore())?.at ?? 0;
      setStep('checking');
      const key =
        secret.trim() === ''
          ? {}
          : encryption === 'recipients'
            ? { identity: secret.trim() }
            : { passphrase: secret };
      await weir.backup.restoreListed({ name, body: { keepHostSettings: !takesHost, ...key } });
      setStep('restarting');
      const over = await restoreOver({
        since,
        last: () => weir.backup.lastRestore(),
        pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      });
      if (over.state === 'failed') throw new Error(over.problem);
    },
    onError: () => setStep('asking'),
    // Nothing that the page knows is of this database.
    onSuccess: () => queries.invalidateQueries(),
  });
  const isRunning = restore.isPending;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (typed.trim() === name && !isRunning) restore.mutate();
  };
  if (restore.isSuccess)
    return (
      <Sheet title={say('backups.restoredTitle')} isOpen close={close}>
        <p>{say('backups.restored', { time: format.moment(createdAt) })}</p>
        <div className="actions end">
          <Button className="button main" onPress={close}>
            {say('close')}
          </Button>
        </div>
      </Sheet>
    );
  return (
    <Sheet
      title={say('backups.restoreAsk', { time: format.moment(createdAt) })}
      isOpen
      {...(!isRunning && { close })}
      role="alertdialog"
    >
      {isRunning ? (
        <p role="status">{say(step === 'restarting' ? 'backups.restarting' : 'backups.checking')}</p>
      ) : (
        <Form className="stack" onSubmit={submit}>
          <p>{say('backups.cost', { time: format.distance(createdAt, Date.now()) })}</p>
          <table className="backup-compare">
            <thead>
              <tr>
                <td />
                <th scope="col">{say('backups.now')}</th>
                <th scope="col">{say('backups.then')}</th>
              </tr>
            </thead>
            <tbody>
              <tr>
                <th scope="row">{say('backups.clients')}</th>
                <td>{clients === undefined ? '…' : format.number(clients)}</td>
                <td>{format.number(counts.clients)}</td>
              </tr>
              <tr>
                <th scope="row">{say('backups.inbounds')}</th>
                <td>{inbounds === undefined ? '…' : format.number(inbounds)}</td>
                <td>{format.number(counts.inbounds)}</td>
              </tr>
            </tbody>
          </table>
          <p className="hint">{say('backups.costMore')}</p>
          <label className="tick">
            <input
              type="checkbox"
              checked={takesHost}
              onChange={({ target }) => setTakesHost(target.checked)}
            />
            {say('backups.takesHost')}
          </label>
          {encryption !== '' && (
            <Field
              label={say(encryption === 'recipients' ? 'backups.identity' : 'backups.passphrase')}
              {...(encryption === 'passphrase' && { hint: say('backups.passphraseHint') })}
              type="password"
              autoComplete="off"
              value={secret}
              onChange={setSecret}
              isRequired={encryption === 'recipients'}
              isPlain
            />
          )}
          <Field
            label={say('backups.typeName')}
            hint={`\u2066${name}\u2069`}
            value={typed}
            onChange={setTyped}
            autoComplete="off"
            isPlain
          />
          {restore.error && <Problem error={restore.error} />}
          <div className="actions end">
            <Button className="button" onPress={close}>
              {say('cancel')}
            </Button>
            <Button type="submit" className="button risky" isDisabled={typed.trim() !== name}>
              {say('backups.restore')}
            </Button>
          </div>
        </Form>
      )}
    </Sheet>
  );
}

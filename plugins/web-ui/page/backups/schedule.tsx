// When backups are made, which stay, how they are encrypted: the settings of the plugin, from its schema.
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import type { SettingsUpdateInput } from '../../../../sdk/index.js';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { SchemaForm } from '../forms/schema-form.js';
import type { Values } from '../forms/schema.js';
import { useReader } from '../language/context.js';
import { useDraft } from '../parts/draft.js';
import { notify } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { apart, changedSettings } from './changed-settings.js';
import { scheduleQuery } from './queries.js';

interface Typed {
  /** all fields of the form but secrets; null before the first change */
  readonly typed: Values | null;
}
const NOTHING: Typed = { typed: null };

export function Schedule() {
  const { say } = useReader();
  const known = useQuery(scheduleQuery);
  const draft = useDraft<Typed>('backup settings', NOTHING);
  const [secrets, setSecrets] = useState<Values>({});
  const { typed } = draft.value;
  const values = typed ? { ...typed, ...secrets } : (known.data?.values ?? {});
  const change = (next: Values): void => {
    const { open, secret } = apart(known.data?.schema ?? {}, next);
    draft.set({ typed: open });
    setSecrets(secret);
  };
  const changed = known.data ? changedSettings(known.data.schema, known.data.values, values) : {};
  const save = useMutation({
    mutationFn: () => weir.settings.update({ body: changed as SettingsUpdateInput['body'] & object }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['backup'] });
      draft.set(NOTHING);
      setSecrets({});
      notify(say('backups.saved'));
    },
  });
  const issues = save.error instanceof PanelFailure ? save.error.issues : [];
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!save.isPending && Object.keys(changed).length > 0) save.mutate();
  };
  return (
    <section className="card" aria-labelledby="schedule">
      <h2 id="schedule">{say('backups.schedule')}</h2>
      {known.error && <Problem error={known.error} retry={() => void known.refetch()} />}
      {known.isPending && <p className="muted">{say('loading')}</p>}
      {known.data && (
        <Form className="stack" onSubmit={submit} validationBehavior="aria">
          <SchemaForm
            schema={known.data.schema}
            values={values}
            change={change}
            problems={new Map(issues.map(({ path, message }) => [path.replace(/^body\./, ''), message]))}
          />
          {save.error && <Problem error={save.error} />}
          <div className="actions end">
            <Button
              type="submit"
              className="button main"
              isPending={save.isPending}
              isDisabled={Object.keys(changed).length === 0}
            >
              {say('save')}
            </Button>
          </div>
        </Form>
      )}
    </section>
  );
}

// What is done with the chosen clients. Each is a job of the panel, which goes on when the page is closed.
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import type { BulkJobsStartInput } from '../../../../sdk/index.js';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { gigabyte } from '../format/bytes.js';
import { useReader } from '../language/context.js';
import { jobsQuery } from '../jobs/queries.js';
import { Field } from '../parts/field.js';
import { notifyTrouble } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { Sheet } from '../parts/sheet.js';
import { type Selection, sizeOf, whomOf } from './selection.js';
import type { View } from './view.js';

const DAYS = [7, 30, 90] as const;
const GIGABYTES = [10, 50, 100] as const;
type Work = Pick<BulkJobsStartInput['body'], 'action' | 'params'>;

export interface BulkBarProps {
  readonly view: View;
  readonly selection: Selection;
  /** clients that pass the filter */
  readonly count: number;
  readonly clear: () => void;
}

export function BulkBar({ view, selection, count, clear }: BulkBarProps) {
  const { say, format } = useReader();
  const [asked, setAsked] = useState<'group' | 'delete'>();
  const start = useMutation({
    mutationFn: (work: Work) => weir.bulkJobs.start({ body: { ...work, ...whomOf(selection, view) } }),
    onSuccess: () => {
      setAsked(undefined);
      clear();
    },
    onError: (error) => asked === undefined && notifyTrouble(error),
    onSettled: () => queries.invalidateQueries({ queryKey: jobsQuery.queryKey }),
  });
  const unit = gigabyte(format.units);
  const chosen = sizeOf(selection, count);
  const act = (text: string, work: Work) => (
    <Button className="button small" isDisabled={start.isPending} onPress={() => start.mutate(work)}>
      {text}
    </Button>
  );
  const ask = (what: 'group' | 'delete') => () => {
    start.reset();
    setAsked(what);
  };
  return (
    <section className="bulk" aria-label={say('bulk.label')}>
      <strong role="status">{say('bulk.chosen', { count: chosen })}</strong>
      <div className="actions">
        <MenuTrigger>
          <Button className="button small" isDisabled={start.isPending}>
            {say('extend.title')}
          </Button>
          <Popover className="popover">
            <Menu className="menu">
              {DAYS.map((days) => (
                <MenuItem
                  key={days}
                  onAction={() => start.mutate({ action: 'adjust', params: { addDays: days } })}
                >
                  {say('extend.days', { count: days })}
                </MenuItem>
              ))}
              {GIGABYTES.map((amount) => (
                <MenuItem
                  key={`${amount} bytes`}
                  onAction={() => start.mutate({ action: 'adjust', params: { addBytes: amount * unit } })}
                >
                  {say('extend.bytes', { amount: format.bytes(amount * unit) })}
                </MenuItem>
              ))}
            </Menu>
          </Popover>
        </MenuTrigger>
        {act(say('bulk.off'), { action: 'disable' })}
        {act(say('bulk.on'), { action: 'enable' })}
        {act(say('bulk.reset'), { action: 'resetTraffic' })}
        <Button className="button small" onPress={ask('group')}>
          {say('bulk.group')}
        </Button>
        <Button className="button small risky" onPress={ask('delete')}>
          {say('bulk.delete')}
        </Button>
        <Button className="button small quiet" onPress={clear}>
          {say('bulk.clear')}
        </Button>
      </div>
      <Sheet title={say('bulk.groupTitle')} isOpen={asked === 'group'} close={() => setAsked(undefined)}>
        <GroupForm
          chosen={chosen}
          error={start.error}
          isPending={start.isPending}
          save={(group) => start.mutate({ action: 'setGroup', params: { group } })}
        />
      </Sheet>
      <Sheet
        title={say('bulk.deleteAsk', { count: chosen })}
        isOpen={asked === 'delete'}
        close={() => setAsked(undefined)}
        role="alertdialog"
      >
        <p>{say('bulk.deleteCost')}</p>
        {start.error && <Problem error={start.error} />}
        <div className="actions end">
          <Button className="button" onPress={() => setAsked(undefined)}>
            {say('cancel')}
          </Button>
          <Button
            className="button risky"
            isPending={start.isPending}
            onPress={() => start.mutate({ action: 'delete' })}
          >
            {say('bulk.delete')}
          </Button>
        </div>
      </Sheet>
    </section>
  );
}

interface GroupFormProps {
  readonly chosen: number;
  readonly error: unknown;
  readonly isPending: boolean;
  readonly save: (group: string) => void;
}

function GroupForm({ chosen, error, isPending, save }: GroupFormProps) {
  const { say } = useReader();
  const [group, setGroup] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isPending) save(group.trim());
  };
  return (
    <Form className="stack" onSubmit={submit}>
      {error !== null && error !== undefined && <Problem error={error} />}
      <Field
        label={say('field.group')}
        hint={say('bulk.groupHint')}
        maxLength={255}
        value={group}
        onChange={setGroup}
      />
      <div className="actions end">
        <Button type="submit" className="button main" isPending={isPending}>
          {say('bulk.groupSave', { count: chosen })}
        </Button>
      </div>
    </Form>
  );
}

// Somebody else has saved the record meanwhile: the reader chooses, field by field, and then saves again.
import { useId, useState } from 'react';
import { Button } from 'react-aria-components';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import type { Choice, Conflict } from './conflict.js';
import './conflict.css';

export interface ConflictBoxProps<F extends string> {
  readonly conflicts: readonly Conflict<F>[];
  /** fields that only the other one has changed; they are kept */
  readonly kept: readonly F[];
  readonly label: (field: F) => string;
  readonly shown: (field: F, value: string) => string;
  readonly choose: (chosen: Readonly<Partial<Record<F, Choice>>>) => void;
}

export function ConflictBox<F extends string>({
  conflicts,
  kept,
  label,
  shown,
  choose,
}: ConflictBoxProps<F>) {
  const { say } = useReader();
  const [chosen, setChosen] = useState({} as Readonly<Partial<Record<F, Choice>>>);
  const id = useId();
  return (
    <section className="conflict" role="alert" aria-labelledby={id}>
      <h2 id={id}>{say('conflict.title')}</h2>
      {kept.length > 0 && <p>{say('conflict.kept', { fields: kept.map(label).join(', ') })}</p>}
      {conflicts.length > 0 && <p>{say('conflict.choose')}</p>}
      {conflicts.map(({ field, before, mine, theirs }) => (
        <fieldset key={field}>
          <legend>{label(field)}</legend>
          <p className="muted">
            {say('conflict.before')}: <bdi>{shownName(shown(field, before)) || say('conflict.blank')}</bdi>
          </p>
          {(['mine', 'theirs'] as const).map((side) => (
            <label key={side}>
              <input
                type="radio"
                name={`${id} ${field}`}
                checked={(chosen[field] ?? 'mine') === side}
                onChange={() => setChosen({ ...chosen, [field]: side })}
              />
              <span>
                {say(`conflict.${side}`)}:{' '}
                <bdi>{shownName(shown(field, side === 'mine' ? mine : theirs)) || say('conflict.blank')}</bdi>
              </span>
            </label>
          ))}
        </fieldset>
      ))}
      <div className="actions end">
        <Button className="button main" onPress={() => choose(chosen)}>
          {say('conflict.use')}
        </Button>
      </div>
    </section>
  );
}

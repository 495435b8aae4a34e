// Where an inbound sends connections that are not of its protocol: a list of its own, saved by itself.
import { useMutation, useQuery } from '@tanstack/react-query';
import { ArrowDown, ArrowUp, Plus } from 'lucide-react';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import { inboundsQuery, queries } from '../api/queries.js';
import type { Problems } from '../forms/problems.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Field } from '../parts/field.js';
import { notify } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { ALPNS, BLANK, MOST_ROWS, moved, type Row, rowsOf, sentOf, XVERS } from './fallback-rows.js';
import { type KnownFallbacks, fallbacksQuery, saveFallbacks } from './fallbacks-call.js';

/** Nothing where inbounds cannot have fallbacks. */
export function Fallbacks({ id }: { id: number }) {
  const { say } = useReader();
  const known = useQuery(fallbacksQuery(id));
  const [round, setRound] = useState(0);
  const renew = async (): Promise<void> => {
    await known.refetch();
    setRound(round + 1);
  };
  if (known.data === null) return null;
  return (
    <section className="card" aria-labelledby="fallbacks">
      <h2 id="fallbacks">{say('inbounds.fallbacks')}</h2>
      <p className="hint">{say('inbounds.fallbacksHint')}</p>
      {known.isPending && <p role="status">{say('loading')}</p>}
      {known.error && <Problem error={known.error} retry={() => void known.refetch()} />}
      {known.data && <Rows key={round} id={id} known={known.data} renew={renew} />}
    </section>
  );
}

interface RowsProps {
  readonly id: number;
  readonly known: KnownFallbacks;
  /** begins again with what is stored */
  readonly renew: () => Promise<void>;
}

function Rows({ id, known, renew }: RowsProps) {
  const { say } = useReader();
  // What the form began with: what others save meanwhile is not a change of the reader.
  const [start] = useState(known);
  const [rows, setRows] = useState<readonly Row[]>(() => rowsOf(start.fallbacks));
  const save = useMutation({
    mutationFn: () => saveFallbacks(id, sentOf(rows), start.version),
    onSuccess: (said) => {
      notify(said);
      void queries.invalidateQueries({ queryKey: ['inbounds', 'held', id] });
      return renew();
    },
  });
  const issues = save.error instanceof PanelFailure ? save.error.issues : [];
  const problems = new Map(issues.map(({ path, message }) => [path, message]));
  const isChanged = JSON.stringify(rows) !== JSON.stringify(rowsOf(start.fallbacks));
  return (
    <div className="stack">
      {rows.length === 0 && <p className="muted">{say('inbounds.fallbacksNone')}</p>}
      <ol className="fallback-rows">
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity, and hold no state
          <li key={index} className="schema-object">
            <RowFields
              masterId={id}
              row={row}
              number={index + 1}
              problems={problems}
              change={(next) => setRows(rows.map((other, place) => (place === index ? next : other)))}
            />
            <div className="actions">
              <Button
                className="button icon"
                aria-label={say('inbounds.fallbackUp', { number: index + 1 })}
                isDisabled={index === 0}
                onPress={() => setRows(moved(rows, index, -1))}
              >
                <ArrowUp size={16} aria-hidden />
              </Button>
              <Button
                className="button icon"
                aria-label={say('inbounds.fallbackDown', { number: index + 1 })}
                isDisabled={index === rows.length - 1}
                onPress={() => setRows(moved(rows, index, 1))}
              >
                <ArrowDown size={16} aria-hidden />
              </Button>
              <Button
                className="button"
                aria-label={say('inbounds.fallbackRemove', { number: index + 1 })}
                onPress={() => setRows(rows.filter((_, place) => place !== index))}
              >
                {say('remove')}
              </Button>
            </div>
          </li>
        ))}
      </ol>
      {save.error && <Problem error={save.error} />}
      {save.error instanceof PanelFailure && save.error.status === 409 && (
        <Button className="button" onPress={() => void renew()}>
          {say('inbounds.takeTheirs')}
        </Button>
      )}
      <div className="actions end">
        <Button
          className="button"
          isDisabled={rows.length >= MOST_ROWS}
          onPress={() => setRows([...rows, BLANK])}
        >
          <Plus size={16} aria-hidden />
          {say('inbounds.fallbackAdd')}
        </Button>
        <Button
          className="button main"
          isDisabled={!isChanged}
          isPending={save.isPending}
          onPress={() => save.mutate()}
        >
          {say('inbounds.fallbacksSave')}
        </Button>
      </div>
    </div>
  );
}

interface RowProps {
  readonly masterId: number;
  readonly row: Row;
  readonly number: number;
  readonly problems: Problems;
  readonly change: (row: Row) => void;
}

function RowFields({ masterId, row, number, problems, change }: RowProps) {
  const { say } = useReader();
  const inbounds = (useQuery(inboundsQuery).data ?? []).filter(({ id }) => id !== masterId);
  const wrong = (name: string) => {
    const problem = problems.get(`fallbacks.${number - 1}.${name}`);
    return problem === undefined ? {} : { problem };
  };
  return (
    <fieldset className="schema-section">
      <legend>{say('inbounds.fallbackNumber', { number })}</legend>
      <Choice
        label={say('inbounds.fallbackChild')}
        value={row.child}
        options={[
          { value: '', text: say('inbounds.fallbackElsewhere') },
          ...inbounds.map(({ id, remark, tag }) => ({ value: String(id), text: shownName(remark || tag) })),
        ]}
        choose={(child) => change({ ...row, child })}
        {...wrong('childId')}
      />
      {row.child === '' && (
        <Field
          label={say('inbounds.fallbackDest')}
          hint={say('inbounds.fallbackDestHint')}
          isPlain
          value={row.dest}
          onChange={(dest) => change({ ...row, dest })}
          {...wrong('dest')}
        />
      )}
      <Field
        label={say('inbounds.fallbackName')}
        isPlain
        value={row.name}
        onChange={(name) => change({ ...row, name })}
        {...wrong('name')}
      />
      <Field
        label={say('inbounds.fallbackPath')}
        isPlain
        value={row.path}
        onChange={(path) => change({ ...row, path })}
        {...wrong('path')}
      />
      <Choice
        label={say('inbounds.fallbackAlpn')}
        value={row.alpn}
        options={ALPNS.map((value) => ({ value, text: value === '' ? say('inbounds.fallbackAny') : value }))}
        choose={(alpn) => change({ ...row, alpn })}
        {...wrong('alpn')}
      />
      <Choice
        label={say('inbounds.fallbackXver')}
        value={row.xver}
        options={XVERS.map((value) => ({
          value,
          text: value === '0' ? say('inbounds.fallbackNoXver') : value,
        }))}
        choose={(xver) => change({ ...row, xver })}
        {...wrong('xver')}
      />
    </fieldset>
  );
}

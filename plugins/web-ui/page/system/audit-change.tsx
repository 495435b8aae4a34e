// One change with its fields, and the undo of its call.
import { useMutation } from '@tanstack/react-query';
import { useId } from 'react';
import { Button } from 'react-aria-components';
import type { AuditChangesReply } from '../../../../sdk/index.js';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import type { MessageKey } from '../language/message-key.js';
import { notify } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { changedFields, isKnownArea } from './audit-filter.js';

const KINDS: Readonly<Record<string, MessageKey>> = {
  added: 'audit.kind.added',
  updated: 'audit.kind.updated',
  deleted: 'audit.kind.deleted',
  done: 'audit.kind.done',
};
const CALLERS: Readonly<Record<string, MessageKey>> = {
  token: 'audit.by.token',
  command: 'audit.by.command',
  plugin: 'audit.by.plugin',
};

export interface AuditChangeProps {
  readonly change: AuditChangesReply[number];
  /** listed changes of the same call */
  readonly size: number;
  /** the first of its call in the list, which offers the undo */
  readonly isFirst: boolean;
}

export function AuditChange({ change, size, isFirst }: AuditChangeProps) {
  const { say, format } = useReader();
  const heading = useId();
  const { entry, at, who, whoKind, ip, area, kind, name, undoes, undoable, undoableReason, fields } = change;
  const undo = useMutation({
    mutationFn: () => weir.audit.undo({ entry }),
    onSuccess: () => notify(say('undo.done')),
    // What was set back may be shown anywhere.
    onSettled: () => void queries.invalidateQueries(),
  });
  const changed = changedFields(fields);
  const caller = CALLERS[whoKind];
  return (
    <li className="card" data-change={change.id} aria-labelledby={heading}>
      <div className="card-head">
        <h2 id={heading} className="audit-what">
          <span className="tag">{say(KINDS[kind] ?? 'audit.kind.done')}</span>{' '}
          {isKnownArea(area) ? say(`audit.area.${area}`) : <bdi dir="ltr">{shownName(area)}</bdi>}{' '}
          <bdi>{shownName(name)}</bdi>
        </h2>
        {undoable && isFirst && (
          <Button
            className="button small"
            aria-label={say('undo.of', { time: format.moment(at) })}
            isPending={undo.isPending}
            onPress={() => undo.mutate()}
          >
            {say('audit.undo')}
          </Button>
        )}
      </div>
      <p className="muted">
        <bdi>{shownName(who)}</bdi>
        {caller && <> ({say(caller)})</>}
        {ip !== '' && (
          <>
            {' · '}
            <bdi dir="ltr">{shownName(ip)}</bdi>
          </>
        )}
        {' · '}
        <time dateTime={new Date(at).toISOString()} title={format.exactly(at)}>
          {format.moment(at)}
        </time>
      </p>
      {undoes > 0 && <p className="hint">{say('audit.undoes', { entry: undoes })}</p>}
      {undo.error && <Problem error={undo.error} />}
      <details className="fold">
        <summary>{say('audit.details', { count: changed.length })}</summary>
        <div className="stack">
          {changed.length > 0 && (
            <dl className="audit-fields">
              {changed.map(({ path, before, after }) => (
                <div key={path}>
                  <dt>
                    <bdi dir="ltr">{shownName(path)}</bdi>
                  </dt>
                  <dd>
                    <del>
                      <bdi>{before === '' ? say('audit.blank') : shownName(before)}</bdi>
                    </del>{' '}
                    <ins>
                      <bdi>{after === '' ? say('audit.blank') : shownName(after)}</bdi>
                    </ins>
                  </dd>
                </div>
              ))}
            </dl>
          )}
          <p className="hint">
            {undoable ? say('audit.undoable', { entry, count: size }) : say('audit.notUndoable', { entry })}{' '}
            {!undoable && <bdi>{shownName(undoableReason)}</bdi>}
          </p>
        </div>
      </details>
    </li>
  );
}

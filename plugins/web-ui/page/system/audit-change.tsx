// One change with its fields, and the undo of its call.
import { Link } from '@tanstack/react-router';
import { type ReactNode, useId, useState } from 'react';
import { PanelFailure } from '../../../../sdk/failure.js';
import type { AuditChangesReply } from '../../../../sdk/index.js';
import { queries } from '../api/queries.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import type { MessageKey } from '../language/message-key.js';
import { Problem } from '../parts/problem.js';
import { UndoButton } from '../parts/undo-button.js';
import { type ChangedField, changedFields, conflictsOf } from './audit-query.js';
import { auditViewOf, isKnownArea } from './audit-view.js';

const KIND_TEXTS: Readonly<Record<string, MessageKey>> = {
  added: 'audit.kind.added',
  updated: 'audit.kind.updated',
  deleted: 'audit.kind.deleted',
};
const CALLERS: Readonly<Record<string, MessageKey>> = {
  token: 'audit.by.token',
  command: 'audit.by.command',
  plugin: 'audit.by.plugin',
};

export interface AuditChangeProps {
  readonly change: AuditChangesReply[number];
  /** the first of its call in the list, which offers the undo */
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

export function AuditChange({ change, isFirst, isLast }: AuditChangeProps) {
  const { say, format } = useReader();
  const heading = useId();
  const [isOpen, setOpen] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const { entry, at, who, whoKind, ip, area, kind, name, undoes, undoable, undoableReason } = change;
  const fields = changedFields(change.fields);
  const caller = CALLERS[whoKind];
  return (
    <li className="card" data-change={change.id} aria-labelledby={heading}>
      <div className="card-head">
        <h2 id={heading} className="audit-what">
          <span className="tag">{say(KIND_TEXTS[kind] ?? 'audit.kind.done')}</span>{' '}
          {isKnownArea(area) ? say(`audit.area.${area}`) : <bdi dir="ltr">{shownName(area)}</bdi>}{' '}
          <bdi>{shownName(name)}</bdi>
        </h2>
        {undoable && isFirst && (
          <UndoButton
            entry={entry}
            at={at}
            failed={setFailure}
            settled={() => {
              // What was set back may be shown anywhere.
              void queries.invalidateQueries();
            }}
          />
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
        <time dateTime={format.iso(at)} title={format.exactly(at)}>
          {format.moment(at)}
        </time>
      </p>
      {undoes > 0 && <p className="hint">{say('audit.undoes', { entry: undoes })}</p>}
      {failure !== undefined && <UndoFailed error={failure} />}
      <details className="fold" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>{say('audit.details', { entry, count: fields.length })}</summary>
        {isOpen && (
          <div className="stack audit-details">
            {fields.length > 0 && (
              <Fields
                fields={fields}
                before={kind === 'added' ? undefined : say('audit.before')}
                after={kind === 'deleted' ? undefined : say('audit.after')}
              />
            )}
            {!undoable && (
              <p className="hint">
                {say('audit.notUndoable')} <bdi>{shownName(undoableReason)}</bdi>
              </p>
            )}
            {undoable && !(isFirst && isLast) && <p className="hint">{say('audit.undoable', { entry })}</p>}
            <p className="actions">
              {name !== '' && (
                <Link to="/system/audit" search={auditViewOf({ area, name })}>
                  {say('audit.onlyRecord')}
                </Link>
              )}
              <Link to="/system/audit" search={auditViewOf({ who })}>
                {say('audit.onlyWho', { name: isolated(who) })}
              </Link>
            </p>
          </div>
        )}
      </details>
    </li>
  );
}

/** Nothing of it is undone when somebody has changed a field since: these fields are shown. */
function UndoFailed({ error }: { error: unknown }) {
  const { say } = useReader();
  const conflicts = error instanceof PanelFailure ? conflictsOf(error.obj) : [];
  if (conflicts.length === 0) return <Problem error={error} />;
  return (
    <div className="problem" role="alert">
      <div>
        <p>{say('audit.changedSince')}</p>
        {conflicts.map(({ name, fields }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they do not change
          <section key={index}>
            <p>
              <strong>
                <bdi>{shownName(name)}</bdi>
              </strong>
            </p>
            <Fields fields={fields} before={say('audit.left')} after={say('audit.now')} />
          </section>
        ))}
      </div>
    </div>
  );
}

interface FieldsProps {
  readonly fields: readonly ChangedField[];
  /** what stands before the values; undefined: they are not shown, because all are blank */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

function Fields({ fields, before, after }: FieldsProps) {
  const { say } = useReader();
  const shown = (value: string): ReactNode =>
    value === '' ? <i className="muted">{say('audit.blank')}</i> : <bdi>{shownName(value)}</bdi>;
  return (
    <dl className="audit-fields">
      {fields.map((field) => (
        <div key={field.path}>
          <dt>
            <bdi dir="ltr">{shownName(field.path)}</bdi>
          </dt>
          {before !== undefined && (
            <dd>
              <span className="muted">{before}: </span>
              {shown(field.before)}
            </dd>
          )}
          {after !== undefined && (
            <dd>
              <span className="muted">{after}: </span>
              {shown(field.after)}
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}

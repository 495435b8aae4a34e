// The changes that are not applied yet: what they would do, and then the act itself.
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { useReader } from '../language/context.js';
import { ConflictBox } from '../parts/conflict-box.js';
import { notify, notifyTrouble } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { Sheet } from '../parts/sheet.js';
import { changesOf } from './draft-store.js';
import { shownField } from './merge.js';
import { IssueList, PlaceLink } from './place-link.js';
import { planWords } from './plan-words.js';
import { draft, templateQuery } from './queries.js';
import { asText, isSame } from './template.js';
import { useDraftState } from './use-draft.js';

const refetch = (): Promise<void> => queries.invalidateQueries({ queryKey: ['routing'] });

export function DraftBar() {
  const { say } = useReader();
  const state = useDraftState();
  const plan = useMutation({
    mutationFn: async () => {
      // After a save that the panel has not shown yet.
      if (draft.state()?.saved.version === '') await queries.fetchQuery({ ...templateQuery, staleTime: 0 });
      const engineSetting = draft.text();
      const reply = await weir.engine.planOf({ body: { engineSetting } });
      draft.tell(reply.issues);
      return { reply, engineSetting };
    },
    onError: notifyTrouble,
  });
  const [isShown, setShown] = useState(false);
  if (!state) return null;
  const { theirs, broken } = state;
  const count = changesOf(state).length;
  const isBroken = Object.keys(broken).length > 0;
  if (theirs) return <Joining />;
  if (count === 0 && !isBroken) return null;
  const discard = (): void => {
    const takeBack = draft.discard();
    notify(say('routing.discarded'), {
      text: say('undo'),
      run: () => notify(say(takeBack() ? 'undo.done' : 'routing.undoTooLate')),
    });
  };
  const open = (): void => plan.mutate(undefined, { onSuccess: () => setShown(true) });
  return (
    <section className="card routing-bar" aria-label={say('routing.changes')}>
      <p role="status">
        {say('routing.unapplied', { count })} {isBroken && say('routing.broken')}{' '}
        {Object.keys(broken).map((path) => (
          <PlaceLink key={path} path={path} />
        ))}
      </p>
      <div className="actions end">
        <Button className="button" onPress={discard}>
          {say('routing.discard')}
        </Button>
        <Button className="button main" isPending={plan.isPending} isDisabled={isBroken} onPress={open}>
          {say('routing.plan')}
        </Button>
      </div>
      {plan.data && <PlanSheet {...plan.data} isOpen={isShown} close={() => setShown(false)} />}
    </section>
  );
}

interface PlanSheetProps {
  readonly reply: Awaited<ReturnType<typeof weir.engine.planOf>>;
  readonly engineSetting: string;
  readonly isOpen: boolean;
  readonly close: () => void;
}

function PlanSheet({ reply, engineSetting, isOpen, close }: PlanSheetProps) {
  const { say } = useReader();
  const apply = useMutation({
    mutationFn: async () => {
      const { saved } = draft.state() ?? { saved: { version: '' } };
      return weir.engine.update({ body: { engineSetting } }, { ifVersion: saved.version });
    },
    onSuccess: () => {
      const before = draft.state()?.saved.template;
      close();
      draft.applied();
      notify(
        say('routing.applied'),
        before && {
          text: say('undo'),
          run: () =>
            void takeBack(asText(before)).then(
              (isDone) => notify(say(isDone ? 'undo.done' : 'routing.undoTooLate')),
              notifyTrouble,
            ),
        },
      );
      void refetch();
    },
    onError: async (error) => {
      if (error instanceof PanelFailure) draft.tell(error.issues);
      if (!(error instanceof PanelFailure) || error.code !== 'RECORD_VERSIONS_CHANGED') return;
      await queries.fetchQuery({ ...templateQuery, staleTime: 0 }).catch(() => undefined);
      close();
      notify(say('routing.changedMeanwhile'));
    },
  });
  const issues = reply.issues;
  return (
    <Sheet title={say('routing.plan.title')} isOpen={isOpen} close={close}>
      <ul className="stack">
        {planWords(reply, say).map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
        {reply.notes.map((note) => (
          <li key={note} className="muted" dir="auto">
            {note}
          </li>
        ))}
      </ul>
      {issues.length > 0 && (
        <div className="problem" role="alert">
          <div>
            <strong>{say('routing.plan.refused')}</strong>
            <IssueList issues={issues} leave={close} />
          </div>
        </div>
      )}
      {apply.error && <Refused error={apply.error} leave={close} />}
      <div className="actions end">
        <Button className="button" onPress={close}>
          {say('routing.goOn')}
        </Button>
        <Button
          className="button main"
          isPending={apply.isPending}
          isDisabled={issues.length > 0}
          onPress={() => !apply.isPending && apply.mutate()}
        >
          {say('routing.apply')}
        </Button>
      </div>
    </Sheet>
  );
}

function Refused({ error, leave }: { error: unknown; leave: () => void }) {
  const { say } = useReader();
  const issues = error instanceof PanelFailure ? error.issues : [];
  if (issues.length === 0) return <Problem error={error} />;
  return (
    <div className="problem" role="alert">
      <div>
        <strong>{say('routing.refused')}</strong>
        <IssueList issues={issues} leave={leave} />
      </div>
    </div>
  );
}

/** Saves the previous template again; false if somebody has saved another one meanwhile. */
async function takeBack(engineSetting: string): Promise<boolean> {
  const mine = draft.state()?.saved.template;
  const { engineSetting: there, version } = await weir.engine.template();
  if (!isSame(JSON.parse(there), mine)) return false;
  await weir.engine.update({ body: { engineSetting } }, { ifVersion: version });
  await refetch();
  return true;
}

function Joining() {
  const { say } = useReader();
  const { conflicts, kept } = draft.conflicts();
  const label = (field: string): string => {
    const [kind = '', ...name] = field.split(' ');
    const tag = name.join(' ');
    if (kind === 'outbound') return say('routing.field.outbound', { tag });
    if (kind === 'balancer') return say('routing.field.balancer', { tag });
    if (kind === 'rules') return say('routing.rules');
    if (kind === 'order') return say('routing.field.order');
    return tag;
  };
  return (
    <ConflictBox
      conflicts={conflicts}
      kept={kept}
      label={label}
      shown={(_, value) => shownField(value)}
      choose={(chosen) => draft.join(chosen)}
    />
  );
}

// The device of this panel at Cloudflare WARP, and its outbound.
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import { weir } from '../api/panel.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import type { MessageKey } from '../language/message-key.js';
import { Field } from '../parts/field.js';
import { notify } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { ConfirmSheet } from './confirm-sheet.js';
import { listsChanged } from './queries.js';
import { listOf, tagOf } from './template.js';
import { TunnelOutbounds } from './tunnel-outbounds.js';
import { deviceQuery, rotationQuery } from './tunnel-queries.js';
import { warningIn } from './tunnel-words.js';
import { useDraftState } from './use-draft.js';

const TAG = 'warp';
interface Act {
  readonly call: () => Promise<unknown>;
  readonly done: MessageKey;
}

/** Something that the panel does at once, without the draft of the template. */
function useAct() {
  const { say } = useReader();
  return useMutation({
    mutationFn: ({ call }: Act) => call(),
    onSuccess: (reply, { done }) => {
      const warning = typeof reply === 'string' ? warningIn(reply) : '';
      notify(warning === '' ? say(done) : `${say(done)} ${warning}`);
    },
    onSettled: listsChanged,
  });
}

export function WarpCard() {
  const { say } = useReader();
  const device = useQuery(deviceQuery);
  const state = useDraftState();
  const act = useAct();
  const [isDeleting, setDeleting] = useState(false);
  if (device.data === null) return null;
  const hasOutbound = listOf(state?.now ?? {}, 'outbounds').some((outbound) => tagOf(outbound) === TAG);
  const button = (text: MessageKey, one: Act, isMain = false) => (
    <Button
      className={isMain ? 'button main' : 'button'}
      isPending={act.isPending && act.variables.done === one.done}
      isDisabled={act.isPending && act.variables.done !== one.done}
      onPress={() => !act.isPending && act.mutate(one)}
    >
      {say(text)}
    </Button>
  );
  return (
    <section className="card" aria-labelledby="warp">
      <h3 id="warp">Cloudflare WARP</h3>
      {device.error && <Problem error={device.error} retry={() => void device.refetch()} />}
      {device.isPending && <p role="status">{say('loading')}</p>}
      {device.data === '' && (
        <>
          <p className="hint">{say('routing.warp.is')}</p>
          <div className="actions">
            {button(
              'routing.warp.setUp',
              {
                call: async () => {
                  await weir.engine.edgetunnel({ action: 'reg' });
                  await weir.edgetunnel.apply();
                },
                done: 'routing.warp.ready',
              },
              true,
            )}
          </div>
        </>
      )}
      {act.error && <Problem error={act.error} />}
      {device.data && (
        <>
          <p className="muted">
            {say('routing.warp.device')} <bdi dir="ltr">{shownName(device.data)}</bdi>
          </p>
          <TunnelOutbounds isOurs={(tag) => tag === TAG} />
          <div className="actions">
            {!hasOutbound &&
              button(
                'routing.tunnel.apply',
                { call: () => weir.edgetunnel.apply(), done: 'routing.warp.ready' },
                true,
              )}
            {button('routing.warp.change', {
              call: () => weir.engine.edgetunnel({ action: 'changeIp' }),
              done: 'routing.warp.changed',
            })}
            <Button className="button" onPress={() => setDeleting(true)}>
              {say('routing.warp.delete')}
            </Button>
          </div>
          <p className="hint">{say('routing.tunnel.atOnce')}</p>
          <Rotation />
          <Licence />
        </>
      )}
      <ConfirmSheet
        title={say('routing.warp.deleteAsk')}
        isOpen={isDeleting}
        close={() => setDeleting(false)}
        run={async () => {
          await weir.engine.edgetunnel({ action: 'del' });
          await listsChanged();
          notify(say('routing.warp.deleted'));
        }}
      >
        {say(hasOutbound ? 'routing.warp.deleteUsed' : 'routing.warp.deleteCost')}
      </ConfirmSheet>
    </section>
  );
}

function Rotation() {
  const { say } = useReader();
  const stored = useQuery(rotationQuery).data;
  const [typed, setTyped] = useState<string>();
  const act = useAct();
  if (stored === undefined) return null;
  const days = (typed ?? String(stored)).trim();
  const isRight = /^\d{1,3}$/.test(days) && Number(days) <= 365;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isRight || act.isPending) return;
    act.mutate(
      {
        call: () => weir.engine.edgetunnel({ action: 'interval', body: { interval: Number(days) } }),
        done: 'routing.warp.intervalSaved',
      },
      { onSuccess: () => setTyped(undefined) },
    );
  };
  return (
    <Form className="routing-inline" onSubmit={submit}>
      <Field
        label={say('routing.warp.interval')}
        hint={say('routing.warp.intervalHint')}
        unit={say('routing.warp.days')}
        isPlain
        inputMode="numeric"
        value={days}
        onChange={setTyped}
        {...(!isRight && { problem: say('routing.warp.intervalWrong') })}
      />
      <Button type="submit" className="button" isPending={act.isPending} isDisabled={typed === undefined}>
        {say('save')}
      </Button>
      {act.error && <Problem error={act.error} />}
    </Form>
  );
}

function Licence() {
  const { say } = useReader();
  const [typed, setTyped] = useState('');
  const act = useAct();
  const issues = act.error instanceof PanelFailure ? act.error.issues : [];
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (act.isPending) return;
    act.mutate(
      {
        call: () => weir.engine.edgetunnel({ action: 'license', body: { license: typed.trim() } }),
        done: 'routing.warp.licenceSaved',
      },
      { onSuccess: () => setTyped('') },
    );
  };
  return (
    <details className="fold">
      <summary>{say('routing.warp.licence')}</summary>
      <Form className="routing-inline" onSubmit={submit}>
        <Field
          label={say('routing.warp.licenceKey')}
          isPlain
          type="password"
          autoComplete="off"
          maxLength={128}
          value={typed}
          onChange={setTyped}
          {...(issues[0] && { problem: issues[0].message })}
        />
        <Button type="submit" className="button" isPending={act.isPending} isDisabled={typed.trim() === ''}>
          {say('save')}
        </Button>
      </Form>
      {act.error && issues.length === 0 && <Problem error={act.error} />}
    </details>
  );
}

// The second factor: enrolled with a QR code and a check, switched off with a code. Recovery codes are shown once.
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import { panelUrl, weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { useReader } from '../language/context.js';
import { Copy } from '../parts/copy.js';
import { Field } from '../parts/field.js';
import { notify } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { QrCode } from '../parts/qr-code.js';
import { Sheet } from '../parts/sheet.js';
import { secondFactorQuery, sessionsQuery } from './queries.js';
import { enrolment, newSecret } from './totp.js';

type Act = 'enrol' | 'off' | 'renew';

export function SecondFactor() {
  const { say } = useReader();
  const factor = useQuery(secondFactorQuery);
  const isOn = factor.data?.enabled;
  const [act, setAct] = useState<Act>();
  return (
    <section className="card" aria-labelledby="factor">
      <h2 id="factor">{say('system.factor')}</h2>
      {factor.error && <Problem error={factor.error} retry={() => void factor.refetch()} />}
      {factor.isPending && <p className="muted">{say('loading')}</p>}
      {isOn !== undefined && <p>{say(isOn ? 'system.factorOn' : 'system.factorOff')}</p>}
      {factor.data?.shared && <p className="hint">{say('factor.shared')}</p>}
      {factor.data?.enabled && (
        <p className="muted">{say('system.codesLeft', { count: factor.data.recoveryCodes })}</p>
      )}
      <div className="actions">
        {isOn === false && (
          <Button className="button main" onPress={() => setAct('enrol')}>
            {say('system.factorEnrol')}
          </Button>
        )}
        {isOn === true && (
          <>
            <Button className="button" onPress={() => setAct('renew')}>
              {say('system.codesRenew')}
            </Button>
            <Button className="button risky" onPress={() => setAct('off')}>
              {say('system.switchOff')}
            </Button>
          </>
        )}
      </div>
      <Sheet title={say('system.factor')} isOpen={act !== undefined} close={() => setAct(undefined)}>
        {act && <FactorForm act={act} close={() => setAct(undefined)} />}
      </Sheet>
    </section>
  );
}

const codesIn = (reply: unknown): readonly string[] => {
  const codes = (reply as { recoveryCodes?: unknown } | null)?.recoveryCodes;
  return Array.isArray(codes) ? codes.map(String) : [];
};

function FactorForm({ act, close }: { act: Act; close: () => void }) {
  const { say } = useReader();
  const [secret] = useState(() => newSecret((bytes) => crypto.getRandomValues(bytes)));
  const [code, setCode] = useState('');
  const name = useQuery(sessionsQuery).data?.find(({ current }) => current)?.username ?? 'admin';
  const run = useMutation({
    mutationFn: async (twoFactorCode: string): Promise<readonly string[]> => {
      if (act === 'renew') return codesIn(await weir.access.recoveryCodes.renew({ body: { twoFactorCode } }));
      const { secondFactor } = weir.account;
      if (act === 'enrol')
        return codesIn(await secondFactor.set({ body: { twoFactorToken: secret, twoFactorCode } }));
      await secondFactor.delete({ body: { twoFactorCode } });
      return [];
    },
    gcTime: 0,
    onSuccess: (codes) => {
      void queries.invalidateQueries({ queryKey: ['access'] });
      if (codes.length > 0) return;
      notify(say('edit.done'));
      close();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!run.isPending) run.mutate(code.trim());
  };
  if (run.data && run.data.length > 0) return <RecoveryCodes codes={run.data} close={close} />;
  const problem =
    run.error instanceof PanelFailure
      ? run.error.issues.find(({ path }) => path === 'twoFactorCode')?.message
      : undefined;
  return (
    <Form className="stack" onSubmit={submit}>
      {act === 'enrol' && (
        <>
          <p>{say('system.factorScan')}</p>
          <QrCode text={enrolment(secret, name, panelUrl.hostname)} label={say('system.factorQr')} />
          <Copy text={secret} label={say('system.factorKey')} />
        </>
      )}
      {act === 'off' && <p>{say('system.factorOffCost')}</p>}
      <Field
        label={say('login.code')}
        {...(act !== 'enrol' && { hint: say('login.codeHint') })}
        value={code}
        onChange={setCode}
        autoComplete="one-time-code"
        maxLength={16}
        isRequired
        isPlain
        {...(problem !== undefined && { problem })}
      />
      {run.error && problem === undefined && <Problem error={run.error} />}
      <div className="actions end">
        <Button className="button" onPress={close}>
          {say('cancel')}
        </Button>
        <Button
          type="submit"
          className={act === 'off' ? 'button risky' : 'button main'}
          isPending={run.isPending}
        >
          {say(act === 'off' ? 'system.switchOff' : 'system.check')}
        </Button>
      </div>
    </Form>
  );
}

function RecoveryCodes({ codes, close }: { codes: readonly string[]; close: () => void }) {
  const { say } = useReader();
  const text = codes.join('\n');
  return (
    <div className="stack">
      <p>{say('system.codesOnce')}</p>
      <Copy text={text} label={say('system.codes')} />
      <a
        className="button"
        href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${text}\n`)}`}
        download="weir-recovery-codes.txt"
      >
        {say('system.download')}
      </a>
      <div className="actions end">
        <Button className="button main" onPress={close}>
          {say('system.tokenKept')}
        </Button>
      </div>
    </div>
  );
}

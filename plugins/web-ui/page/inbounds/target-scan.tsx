// Beside the target of REALITY: looks whether a server can be one, or looks for servers that can.
import { useMutation } from '@tanstack/react-query';
import { Radar } from 'lucide-react';
import { Button } from 'react-aria-components';
import type { ServerScanRealityTargetReply } from '../../../../sdk/index.js';
import { weir } from '../api/panel.js';
import type { Values } from '../forms/schema.js';
import { useReader } from '../language/context.js';
import { notifyTrouble } from '../parts/notices.js';
import { scanBodyOf, targetOf, withTarget } from './target.js';

export function TargetScan({ values, change }: { values: Values; change: (values: Values) => void }) {
  const { say } = useReader();
  const typed = targetOf(values);
  const look = useMutation({
    mutationFn: async (target: string): Promise<readonly ServerScanRealityTargetReply[]> =>
      target === ''
        ? weir.server.scanRealityTargets({ body: {} })
        : [await weir.server.scanRealityTarget({ body: scanBodyOf(values, target) })],
    onError: notifyTrouble,
  });
  return (
    <div className="scan">
      <div className="actions">
        <Button
          className="button small"
          isPending={look.isPending}
          isDisabled={typed === ''}
          onPress={() => look.mutate(typed)}
        >
          <Radar size={16} aria-hidden />
          {say('inbounds.scan')}
        </Button>
        <Button className="button small" isDisabled={look.isPending} onPress={() => look.mutate('')}>
          {say('inbounds.scanList')}
        </Button>
      </div>
      <div role="status">
        {look.isPending && (
          <p>{say(look.variables === '' ? 'inbounds.scanningList' : 'inbounds.scanning')}</p>
        )}
        {look.data?.length === 0 && <p>{say('inbounds.scanNone')}</p>}
        {look.data && look.data.length > 0 && (
          <ul className="scan-found">
            {look.data.map((found) => (
              <Found
                key={`${found.target} ${found.ip}`}
                found={found}
                use={() => {
                  // What was typed stays: a port of this machine is no name.
                  change(withTarget(values, { ...found, target: look.variables || found.target }));
                  look.reset();
                }}
              />
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

function Found({ found, use }: { found: ServerScanRealityTargetReply; use: () => void }) {
  const { say, format } = useReader();
  const { target, feasible, reason, latencyMs, tlsVersion, alpn, curveID } = found;
  return (
    <li>
      <span>
        <code dir="ltr">{target}</code>
        {tlsVersion !== '' && (
          <span className="muted" dir="ltr">
            {' '}
            TLS {tlsVersion} {alpn} {curveID}
          </span>
        )}
        {latencyMs > 0 && (
          <span className="muted"> {say('inbounds.scanDelay', { ms: format.number(latencyMs) })}</span>
        )}
        <br />
        {feasible ? (
          say('inbounds.scanGood')
        ) : (
          <span className="field-problem">
            {say('inbounds.scanBad')} <bdi>{reason}</bdi>
          </span>
        )}
      </span>
      {feasible && (
        <Button className="button small" aria-label={say('inbounds.scanUseOf', { target })} onPress={use}>
          {say('inbounds.scanUse')}
        </Button>
      )}
    </li>
  );
}

// Tests of outbounds as they are in the draft: nothing needs to be saved for one.
import { useMutation } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { weir } from '../api/panel.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { notifyTrouble } from '../parts/notices.js';
import { isTestable } from './outbound-kinds.js';
import { draft, putTests, type Tested } from './queries.js';
import { type Entry, listOf, tagOf } from './template.js';

/** As many as the panel takes in one call. */
const AT_ONCE = 50;

/** Others of the draft, which a tested one may dial through. */
const others = (): Record<string, unknown>[] =>
  listOf(draft.state()?.now ?? {}, 'outbounds').map((entry) => ({ ...entry }));

async function test(outbounds: readonly Entry[]): Promise<void> {
  for (let at = 0; at < outbounds.length; at += AT_ONCE) {
    const some = outbounds.slice(at, at + AT_ONCE);
    const results = await weir.engine.testOutbounds({
      body: { outbounds: some.map((entry) => ({ ...entry })), allOutbounds: others() },
    });
    putTests(
      Object.fromEntries(
        results.flatMap((result, index) => {
          const entry = some[index];
          return entry ? [[tagOf(entry), { of: JSON.stringify(entry), result }]] : [];
        }),
      ),
    );
  }
}

export function TestButton({ outbound }: { outbound: Entry }) {
  const { say } = useReader();
  const run = useMutation({ mutationFn: () => test([outbound]), onError: notifyTrouble });
  if (!isTestable(outbound)) return null;
  return (
    <Button
      className="button small"
      isPending={run.isPending}
      aria-label={say('routing.testOf', { tag: shownName(tagOf(outbound)) })}
      onPress={() => !run.isPending && run.mutate()}
    >
      {say(run.isPending ? 'routing.testing' : 'routing.test')}
    </Button>
  );
}

export function TestAllButton({ outbounds }: { outbounds: readonly Entry[] }) {
  const { say } = useReader();
  const run = useMutation({ mutationFn: () => test(outbounds.filter(isTestable)), onError: notifyTrouble });
  return (
    <Button
      className="button"
      isPending={run.isPending}
      isDisabled={!outbounds.some(isTestable)}
      onPress={() => !run.isPending && run.mutate()}
    >
      {say(run.isPending ? 'routing.testing' : 'routing.testAll')}
    </Button>
  );
}

/** A result of another state of the outbound is not shown. */
export function TestResult({ outbound, tested }: { outbound: Entry; tested: Tested | undefined }) {
  const { say, format } = useReader();
  const result = tested?.of === JSON.stringify(outbound) ? tested.result : undefined;
  const egress = result?.egress;
  return (
    <p role="status" className="routing-result" data-level={result && (result.success ? 'good' : 'bad')}>
      {result?.success && (
        <>
          <span className="dot" aria-hidden />
          {say('routing.delay', { ms: format.number(result.delay) })}
          {egress && (
            <bdi dir="ltr" className="muted">
              {' '}
              {[egress.ipv4 || egress.ipv6, egress.country].filter(Boolean).join(' ')}
            </bdi>
          )}
        </>
      )}
      {result && !result.success && (
        <>
          <span className="dot" aria-hidden />
          {say('routing.failed')} <bdi dir="auto">{shownName(result.error ?? '')}</bdi>
        </>
      )}
    </p>
  );
}

// What the machine moves, with its history.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { weir } from '../api/panel.js';
import { isAbsent } from '../api/trouble.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Plot } from '../parts/plot.js';
import { Problem } from '../parts/problem.js';
import { alignedPoints } from './aligned.js';

/** Seconds between two points; sixty of them are shown. */
const BUCKETS = ['2', '30', '60', '180', '300'] as const;
type Bucket = (typeof BUCKETS)[number];
const POINTS = 60;
const LEAST_MS = 4_000;

export function TrafficPlot() {
  const { say, format } = useReader();
  const [bucket, setBucket] = useState<Bucket>('60');
  const step = Number(bucket) as 2;
  const history = useQuery({
    queryKey: ['history', bucket],
    queryFn: async ({ signal }) => {
      const of = (metric: 'netDown' | 'netUp') =>
        weir.server.getHistoryByMetricByBucket({ metric, bucket: step }, { signal });
      const [down, up] = await Promise.all([of('netDown'), of('netUp')]);
      return alignedPoints([down, up]);
    },
    refetchInterval: Math.max(LEAST_MS, step * 1000),
    staleTime: 0,
  });
  if (isAbsent(history.error)) return null;
  const { times = [], lines: [down = [], up = []] = [] } = history.data ?? {};
  return (
    <section className="card" aria-labelledby="traffic">
      <div className="card-head">
        <h2 id="traffic">{say('traffic.title')}</h2>
        <Choice
          label={say('traffic.span')}
          isCompact
          value={bucket}
          options={BUCKETS.map((value) => ({ value, text: format.duration(Number(value) * 60_000) }))}
          choose={setBucket}
        />
      </div>
      {history.error && <Problem error={history.error} retry={() => void history.refetch()} />}
      {!history.error && !history.isPending && times.length === 0 && (
        <p className="muted">{say('traffic.none')}</p>
      )}
      {times.length > 0 && (
        <Plot
          label={say('traffic.label', {
            down: format.rate(down.at(-1) ?? 0),
            up: format.rate(up.at(-1) ?? 0),
          })}
          kind="line"
          times={times}
          span={[(times.at(-1) ?? 0) - POINTS * step, times.at(-1) ?? 0]}
          lines={[
            { name: say('traffic.down'), color: '--accent', values: down },
            { name: say('traffic.up'), color: '--good', values: up },
          ]}
          shown={(value) => format.rate(value)}
          shownTime={(ms) => format.time(ms)}
        />
      )}
    </section>
  );
}

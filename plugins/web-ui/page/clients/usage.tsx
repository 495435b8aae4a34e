// What a client moved on each of the last thirty days.
import { useQuery } from '@tanstack/react-query';
import { weir } from '../api/panel.js';
import { clientPartQuery } from '../api/queries.js';
import { useReader } from '../language/context.js';
import { Plot } from '../parts/plot.js';
import { Problem } from '../parts/problem.js';

const HALF_DAY = 12 * 3600;
const dayTime = (day: string): number => Date.parse(`${day}T00:00:00Z`);
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Half a day on both sides, for the bars of the first and the last day. */
const spanOf = (days: readonly { readonly day: string }[]): [number, number] => [
  dayTime(days[0]?.day ?? '') / 1000 - HALF_DAY,
  dayTime(days.at(-1)?.day ?? '') / 1000 + HALF_DAY,
];

export function Usage({ email }: { email: string }) {
  const { say, format } = useReader();
  const usage = useQuery(
    clientPartQuery(email, 'usage', (signal) => weir.usageByDay.client({ email }, { signal })),
  );
  const days = usage.data ?? [];
  const total = days.reduce((sum, { up, down }) => sum + up + down, 0);
  return (
    <section className="card" aria-labelledby="usage">
      <h2 id="usage">{say('usage.title')}</h2>
      {usage.error && <Problem error={usage.error} retry={() => void usage.refetch()} />}
      {usage.isPending && <p className="muted">{say('loading')}</p>}
      {usage.data && total === 0 && <p className="muted">{say('usage.none')}</p>}
      {total > 0 && (
        <>
          <Plot
            label={say('usage.label', { total: format.bytes(total), days: days.length })}
            kind="bars"
            isByDay
            span={spanOf(days)}
            times={days.map(({ day }) => dayTime(day) / 1000)}
            lines={[
              { name: say('usage.moved'), color: '--accent', values: days.map(({ up, down }) => up + down) },
            ]}
            shown={(value) => format.bytes(value)}
            shownTime={(ms) => format.calendarDay(dayOf(ms))}
          />
          <details className="fold">
            <summary>{say('usage.asTable')}</summary>
            <table className="figures">
              <thead>
                <tr>
                  <th scope="col">{say('usage.day')}</th>
                  <th scope="col">{say('traffic.down')}</th>
                  <th scope="col">{say('traffic.up')}</th>
                </tr>
              </thead>
              <tbody>
                {days
                  .filter(({ up, down }) => up + down > 0)
                  .map(({ day, up, down }) => (
                    <tr key={day}>
                      <th scope="row">{format.calendarDay(day)}</th>
                      <td>{format.bytes(down)}</td>
                      <td>{format.bytes(up)}</td>
                    </tr>
                  ))}
              </tbody>
            </table>
          </details>
        </>
      )}
    </section>
  );
}

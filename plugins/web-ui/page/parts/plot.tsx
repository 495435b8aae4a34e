// A plot of numbers over time, on a canvas. Its figures are in a table for those who cannot see it.
import { type ReactNode, useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { usePreferences, useReader } from '../language/context.js';
import { useColorScheme } from './color-scheme.js';

export interface Line {
  readonly name: string;
  /** a variable of the style, such as `--accent` */
  readonly color: string;
  readonly values: readonly (number | null)[];
}
export interface PlotProps {
  readonly label: string;
  /** Unix seconds */
  readonly times: readonly number[];
  /** Unix seconds of the first and the last time on the axis */
  readonly span: readonly [number, number];
  readonly lines: readonly Line[];
  readonly shown: (value: number) => string;
  readonly shownTime: (ms: number) => string;
  readonly kind: 'line' | 'bars';
  /** times are days of a calendar, without a zone */
  readonly isByDay?: boolean;
  readonly children?: ReactNode;
}

const HEIGHT = 220;
const AXIS_WIDTH = 76;
const LEAST_WIDTH = 240;

export function Plot({ label, times, span, lines, shown, shownTime, kind, isByDay, children }: PlotProps) {
  const { format } = useReader();
  const scheme = useColorScheme(usePreferences().theme);
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const data = [times, ...lines.map(({ values }) => values)] as uPlot.AlignedData;
  const latest = useRef({ data, span, shown, shownTime });
  latest.current = { data, span, shown, shownTime };
  const looks = `${scheme} ${kind} ${format.locale} ${format.timeZone} ${lines.map(({ name, color }) => name + color).join()}`;

  // biome-ignore lint/correctness/useExhaustiveDependencies: `looks` stands for all that needs another plot
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const made = new uPlot(
      optionsFor({
        element,
        kind,
        lines,
        timeZone: isByDay ? 'UTC' : format.timeZone,
        shown: (value) => latest.current.shown(value),
        shownTime: (ms) => latest.current.shownTime(ms),
        span: () => latest.current.span,
      }),
      latest.current.data,
      element,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: widthOf(element), height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [looks]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the data are new in each render; these tell whether they changed
  useEffect(
    () => plot.current?.setData(latest.current.data),
    [span.join(), times.length, JSON.stringify(lines)],
  );

  return (
    <figure className="plot">
      <div ref={place} className="plot-canvas" role="img" aria-label={label} dir="ltr" />
      <figcaption>
        {lines.map(({ name, color }) => (
          <span key={name} className="legend">
            <svg width="12" height="12" aria-hidden="true">
              <rect width="12" height="12" rx="2" fill={`var(${color})`} />
            </svg>
            {name}
          </span>
        ))}
        {children}
      </figcaption>
    </figure>
  );
}

const widthOf = (element: HTMLElement): number => Math.max(LEAST_WIDTH, Math.floor(element.clientWidth));

interface OptionParts extends Pick<PlotProps, 'kind' | 'lines' | 'shown' | 'shownTime'> {
  readonly span: () => PlotProps['span'];
  readonly element: HTMLElement;
  readonly timeZone: string;
}

function optionsFor({ element, kind, lines, timeZone, shown, shownTime, span }: OptionParts): uPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string): string => style.getPropertyValue(name).trim();
  const axis = {
    stroke: color('--muted'),
    font: `12px ${style.fontFamily}`,
    grid: { stroke: color('--line'), width: 1 },
    ticks: { stroke: color('--line'), width: 1 },
  };
  const bars = kind === 'bars' ? uPlot.paths.bars?.({ size: [0.7, 32] }) : undefined;
  return {
    width: widthOf(element),
    height: HEIGHT,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), timeZone),
    legend: { show: false },
    cursor: { drag: { x: false, y: false } },
    scales: {
      x: { range: () => [...span()] },
      y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] },
    },
    axes: [
      { ...axis, space: 70, values: (_, ticks) => ticks.map((tick) => shownTime(tick * 1000)) },
      { ...axis, size: AXIS_WIDTH, values: (_, ticks) => ticks.map(shown) },
    ],
    series: [
      {},
      ...lines.map(({ name, color: own }) => ({
        label: name,
        stroke: color(own),
        width: 2,
        // A line of one point cannot be seen.
        points: { show: (plot: uPlot) => plot.data[0].length < 2 },
        ...(bars ? { paths: bars, fill: color(own) } : { fill: `${color(own)}22` }),
      })),
    ],
  };
}

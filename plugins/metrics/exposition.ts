// Asks all metrics and writes them in the text format of Prometheus. Registries of their own for each scrape: a series of
// what was deleted does not stay.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Contributed, type Log, messageOf, TimeSlice } from '../../kernel/index.js';
import type { Metric, Sample } from './contract.js';

const MOST_SAMPLES = 20_000;
/** Samples that are written in one go: all of 10,000 clients would hold the event loop. */
const AT_ONCE = 500;
/** HELP and TYPE of a metric, of which one text has each once. */
const HEADER = /^(?:#.*\n)*/;
const PATIENCE_MS = 5_000;
/** The text format of Prometheus, https://prometheus.io/docs/instrumenting/exposition_formats/ */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
/** Number of metrics that could not be asked. */
const FAILED = 'weir_metrics_failed';

export type Source = Pick<Contributed<Metric>, 'value' | 'fault'>;

export class Exposition {
  readonly #log: Log;

  constructor({ log }: { log: Log }) {
    this.#log = log;
  }

  get contentType(): string {
    return CONTENT_TYPE;
  }

  /** A metric that fails is left out and counted; the others are shown. */
  async text(sources: readonly Source[]): Promise<string> {
    let failed = 0;
    const answers = await Promise.all(
      sources.map(async ({ value, fault }) => {
        try {
          return { value, samples: await inTime(value) };
        } catch (error) {
          failed++;
          this.#log.debug('a metric is left out', { metric: value.name, reason: messageOf(error) });
          fault(`the metric ${value.name}`, error);
          return undefined;
        }
      }),
    );
    const slice = new TimeSlice();
    const texts: string[] = [];
    const help = 'Metrics that could not be collected by this scrape.';
    const all = [
      ...answers,
      { value: { name: FAILED, help, type: 'gauge' as const }, samples: [{ value: failed }] },
    ];
    for (const answer of all) {
      if (!answer) continue;
      for (let from = 0; from === 0 || from < answer.samples.length; from += AT_ONCE) {
        if (slice.isOver) await slice.next();
        const text = await textOf(answer.value, answer.samples.slice(from, from + AT_ONCE));
        texts.push(from === 0 ? text : text.replace(HEADER, ''));
      }
    }
    return texts.join('');
  }
}

async function inTime({ collect, labels = [] }: Metric): Promise<Sample[]> {
  const over = new AbortController();
  const late = sleep(PATIENCE_MS, undefined, { signal: over.signal }).then(() =>
    Promise.reject(new Error(`it took longer than ${PATIENCE_MS / 1000} s`)),
  );
  try {
    const samples = await Promise.race([collect(), late]);
    const checked: Sample[] = [];
    for (const sample of samples) {
      if (checked.length === MOST_SAMPLES) throw new Error(`it has more than ${MOST_SAMPLES} samples`);
      if (typeof sample.value !== 'number') throw new Error('a value is not a number');
      for (const label of labels)
        if (typeof sample.labels?.[label] !== 'string') throw new Error(`the label ${label} is not text`);
      checked.push(sample);
    }
    return checked;
  } finally {
    over.abort();
    late.catch(() => undefined);
  }
}

/** Ends with a line break. */
async function textOf(
  { name, help, type, labels = [] }: Omit<Metric, 'collect'>,
  samples: readonly Sample[],
): Promise<string> {
  // Loaded with the first scrape: it takes 12 MiB of memory.
  const { Counter, Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  const configuration = { name, help, labelNames: [...labels], registers: [registry] };
  const named = ({ labels: given = {} }: Sample) =>
    Object.fromEntries(labels.map((label) => [label, given[label] ?? '']));
  if (type === 'gauge') {
    const gauge = new Gauge(configuration);
    for (const sample of samples) gauge.set(named(sample), sample.value);
  } else {
    const counter = new Counter(configuration);
    // A counter below 0, of NaN or without end is a mistake of its plugin; 0 says so as well as an error.
    for (const sample of samples)
      counter.inc(named(sample), Number.isFinite(sample.value) ? Math.max(0, sample.value) : 0);
  }
  return registry.metrics();
}

// Metrics for Prometheus: how other plugins add theirs.
import { extensionPoint } from '../../kernel/index.js';

export interface Sample {
  readonly value: number;
  /** values of all `labels` of the metric */
  readonly labels?: Readonly<Record<string, string>>;
}
/** A metric. Names follow the conventions of Prometheus: a unit in its base (`_bytes`, `_seconds`, `_ratio`), and `_total` at the end of a counter. */
export interface Metric {
  /** of a third-party plugin: `weir_` and its name with underscores come first */
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  readonly labels?: readonly string[];
  /** Called at each scrape, with five seconds; at most 20,000 samples are shown: two of each of 10,000 clients. */
  readonly collect: () => Iterable<Sample> | Promise<Iterable<Sample>>;
}
const NAME = /^[a-z][a-z0-9_]{0,127}$/;
const LABEL = /^[a-z][a-z0-9_]{0,63}$/;
/** Metrics beside those of the panel. */
export const Metrics = extensionPoint<Metric>(
  'metrics',
  'Metrics',
  (metric, { name: plugin, outside }, others) => {
    const { name, help, type, labels = [], collect } = metric;
    if (typeof name !== 'string' || !NAME.test(name))
      return `the name of a metric is small letters, digits and underscores, not ${JSON.stringify(name)}`;
    const prefix = `weir_${plugin.replaceAll('-', '_')}_`;
    if (outside && !name.startsWith(prefix)) return `the metric ${name} must begin with ${prefix}`;
    if (!['gauge', 'counter'].includes(type)) return `the metric ${name} must be a gauge or a counter`;
    if (type === 'counter' && !name.endsWith('_total')) return `the counter ${name} must end with _total`;
    if (type === 'gauge' && name.endsWith('_total')) return `the gauge ${name} must not end with _total`;
    if (typeof help !== 'string' || help === '') return `the metric ${name} needs a help text`;
    if (!Array.isArray(labels) || !labels.every((label) => typeof label === 'string' && LABEL.test(label)))
      return `the labels of ${name} must be small letters, digits and underscores`;
    if (typeof collect !== 'function') return `the metric ${name} needs the function collect`;
    const other = others.find(({ value }) => value.name === name);
    return other && `the metric ${name} already exists, in plugin ${other.plugin}; choose another name`;
  },
);

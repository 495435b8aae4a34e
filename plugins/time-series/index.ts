import { definePlugin, everywhere, job, provide, singleton } from '../../kernel/index.js';
import { Settings } from '../settings/contract.js';
import { SeriesList, TimeSeries, type TimeSeriesApi } from './contract.js';
import { DailyAmounts } from './daily.js';
import { migrations, tables } from './tables.js';
import { TieredStore } from './tiered.js';

export default definePlugin({
  name: 'time-series',
  version: '0.1.0',
  api: 1,
  about: 'Keeps numbers over time for other plugins, within bounds on disk.',
  uses: { settings: Settings },
  tables,
  migrations,
  services: { tiered: singleton(TieredStore), daily: singleton(DailyAmounts) },
  provides: ({ tiered, daily }) => [
    provide(TimeSeries, {
      add: (...sample) => tiered.add(...sample),
      read: (...span) => tiered.read(...span),
      keys: (series) => tiered.keys(series),
      forget: (series, key) => tiered.forget(series, key),
      count: (...amounts) => daily.count(...amounts),
      days: (...span) => daily.days(...span),
      forgetDays: (...keys) => daily.forgetDays(...keys),
    } satisfies TimeSeriesApi),
  ],
  jobs: ({ tiered, daily }) => [
    everywhere(job('flush', '10s', () => tiered.flush())),
    job('prune', '1h', (signal) => daily.prune(signal)),
  ],
  start: async ({ tiered, daily, contributions }) => {
    const declared = contributions(SeriesList).map(({ value }) => value);
    await tiered.open(declared.filter((series) => series.retention === 'tiers'));
    await daily.start(declared.filter((series) => series.retention === 'daily'));
  },
  stop: ({ tiered }) => tiered.close(),
});

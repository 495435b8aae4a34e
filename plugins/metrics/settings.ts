import { int, oneOf, setting, inSection } from '../../kernel/index.js';

export const metricSettings = inSection(
  'Metrics',
  {
    metricsDetail: setting(
      oneOf('none', 'inbounds', 'clients'),
      'none',
      'what has series of its own at /metrics: nothing, each inbound, or each inbound and client',
    ),
    metricsMostClients: setting(
      int().min(1).max(10_000),
      1000,
      'clients that have series at /metrics, those with most bytes',
      { when: { field: 'metricsDetail', is: ['clients'] } },
    ),
  },
  { level: 'advanced' },
);

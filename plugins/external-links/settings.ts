import { int, setting, inSection } from '../../kernel/index.js';

const DAY_MINUTES = 1440;

export const linkSettings = inSection(
  'Subscriptions elsewhere',
  {
    subExternalUpdateMinutes: setting(
      int().min(5).max(DAY_MINUTES),
      60,
      'minutes until a subscription elsewhere is fetched again',
      { unit: 'minutes' },
    ),
  },
  { level: 'advanced' },
);

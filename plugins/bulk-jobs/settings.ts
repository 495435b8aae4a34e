import { inSection, int, setting } from '../../kernel/index.js';

export const bulkJobSettings = inSection(
  'History',
  {
    bulkJobDays: setting(
      int().min(1).max(365),
      14,
      'days for which jobs on many clients are shown after they ended',
      { unit: 'days' },
    ),
  },
  { level: 'advanced' },
);

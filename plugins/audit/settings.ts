import { int, setting, inSection } from '../../kernel/index.js';

export const auditSettings = inSection(
  'History',
  {
    auditDays: setting(
      int().min(0).max(3650),
      365,
      'days for which the record of changes is kept; 0: until it has too many changes',
      { level: 'basic', unit: 'days' },
    ),
    auditMostChanges: setting(
      int().min(1000).max(50_000_000),
      1_000_000,
      'the most changes that are recorded, at some 300 bytes each; the oldest ones are removed',
    ),
  },
  { level: 'advanced' },
);

import { int, setting, inSection } from '../../kernel/index.js';

export const MOST_DAYS = 400;

export const usageSettings = inSection('Usage', {
  usageHistoryDays: setting(
    int().min(1).max(MOST_DAYS),
    90,
    'days for which the usage of each client is stored, today included',
    { unit: 'days' },
  ),
});

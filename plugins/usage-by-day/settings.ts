import { int, setting } from '../../kernel/index.js';

export const MOST_DAYS = 400;

export const usageSettings = {
  usageHistoryDays: setting(
    int().min(1).max(MOST_DAYS),
    90,
    'days for which the usage of each client is stored, today included',
  ),
} as const;

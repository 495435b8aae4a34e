import { int, setting } from '../../kernel/index.js';

export const warningSettings = {
  warnQuotaPercent: setting(
    int().min(0).max(99),
    80,
    'percent of its quota from which a client, and the admins, are warned; 0 for no warning',
  ),
  warnExpiryDays: setting(
    int().min(0).max(365),
    3,
    'days before its expiry from which a client, and the admins, are warned; 0 for no warning',
  ),
} as const;

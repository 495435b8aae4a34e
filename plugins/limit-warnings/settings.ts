import { int, setting, inSection } from '../../kernel/index.js';

export const warningSettings = inSection('Warnings of limits', {
  warnQuotaPercent: setting(
    int().min(0).max(99),
    80,
    'percent of its quota from which a client, and the admins, are warned; 0 for no warning',
    { unit: '%' },
  ),
  warnExpiryDays: setting(
    int().min(0).max(365),
    3,
    'days before its expiry from which a client, and the admins, are warned; 0 for no warning',
    { unit: 'days' },
  ),
});

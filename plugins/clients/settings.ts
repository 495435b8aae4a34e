// Settings of the lists: when a client counts as expiring.
import { int, setting, inSection } from '../../kernel/index.js';

export const clientSettings = inSection('Lists of clients', {
  expireDiff: setting(
    int().min(0).max(36_500),
    0,
    'days before its expiry from which a client counts as expiring',
    { unit: 'days' },
  ),
  trafficDiff: setting(
    int().min(0).max(100),
    0,
    'GiB left of its quota below which a client counts as expiring',
    { unit: 'GiB' },
  ),
});

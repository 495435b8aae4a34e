import { bool, int, list, setting, word, inSection } from '../../kernel/index.js';

/** In a list of events: each that its owner switched on by default, also those of plugins to come. */
export const DEFAULT_EVENTS = 'default';

export const notificationSettings = inSection('Notifications', {
  notificationEvents: setting(
    list(word().max(64)).max(200).unique(),
    [DEFAULT_EVENTS],
    'events to send notifications about, by name; `default` stands for those that are on by default',
  ),
  notifyClients: setting(
    bool(),
    true,
    'whether clients with a messenger id are notified of what concerns them',
  ),
  notificationLogDays: setting(int().min(1).max(3650), 30, 'days for which the delivery log is kept', {
    level: 'advanced',
    unit: 'days',
  }),
  notificationLogMost: setting(
    int().min(100).max(1_000_000),
    20_000,
    'entries of the delivery log that are kept',
    { level: 'advanced' },
  ),
});

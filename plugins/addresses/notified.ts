// What admins are notified of about addresses of clients.
import { notified } from '../notifications/contract.js';
import { addressLimitExceeded } from './contract.js';

export const exceededLimits = notified({
  name: 'addressLimitExceeded',
  severity: 'warning',
  isOnByDefault: false,
  hook: addressLimitExceeded,
  describe: ({ clients }) =>
    clients.map(({ email, limitIp, kept, over }) => ({
      args: { email, limit: limitIp, count: kept.length + over.length },
      data: { email, limitIp, kept, over },
      quietKey: email,
    })),
  titles: {
    en: 'Too many addresses',
    fa: 'نشانی‌های بیش از حد',
    ru: 'Слишком много адресов',
    zh: '地址过多',
  },
  texts: {
    en: '{email} is connected from {count, plural, one {# address} other {# addresses}}; the limit is {limit, number}.',
    fa: '{email} از {count, plural, one {# نشانی} other {# نشانی}} وصل است؛ سقف {limit, number} است.',
    ru: '{email} подключён с {count, plural, one {# адреса} few {# адресов} many {# адресов} other {# адреса}}, предел {limit, number}.',
    zh: '{email} 正从 {count, plural, other {# 个地址}}连接，上限为 {limit, number}。',
  },
});

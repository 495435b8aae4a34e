// What admins are notified of about bans.
import { notified } from '../notifications/contract.js';
import { addressesBanned } from './contract.js';

export const bannedAddresses = notified({
  name: 'addressesBanned',
  severity: 'warning',
  isOnByDefault: false,
  hook: addressesBanned,
  describe: ({ bans }) => [
    {
      args: {
        count: bans.length,
        bans: bans.map(({ address, reason, email }) => ({ address, reason, email })),
      },
      data: {
        bans: bans.map(({ address, scope, reason, email, until }) => ({
          ...{ address, scope, reason, until },
          ...(email !== '' && { email }),
        })),
      },
    },
  ],
  titles: {
    en: 'Addresses banned',
    fa: 'مسدود شدن نشانی‌ها',
    ru: 'Адреса заблокированы',
    zh: '地址已封禁',
  },
  texts: {
    en: '{count, plural, one {An address was banned} other {# addresses were banned}}: {bans}.',
    fa: '{count, plural, one {یک نشانی مسدود شد} other {# نشانی مسدود شدند}}: {bans}.',
    ru: '{count, plural, one {Заблокирован # адрес} few {Заблокированы # адреса} many {Заблокировано # адресов} other {Заблокировано # адреса}}: {bans}.',
    zh: '{count, plural, other {已封禁 # 个地址}}：{bans}。',
  },
  items: {
    bans: {
      en: '{address} ({reason, select, limitIp {too many addresses of {email}} login {failed logins} other {by an admin}})',
      fa: '{address} ({reason, select, limitIp {نشانی‌های بیش از حد {email}} login {ورودهای ناموفق} other {توسط مدیر}})',
      ru: '{address} ({reason, select, limitIp {слишком много адресов у {email}} login {неудачные попытки входа} other {администратором}})',
      zh: '{address}（{reason, select, limitIp {{email} 的地址过多} login {登录失败} other {由管理员}}）',
    },
  },
});

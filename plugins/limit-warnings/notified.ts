// The warnings, to the admins together and to each client that has a messenger id.
import { type NotifiedEvent, notified, type Occurrence } from '../notifications/contract.js';
import { duringLimitWarning, type LimitWarning } from './contract.js';

const GIB = 1_073_741_824;
const inGib = (bytes: number): number => Math.round((bytes / GIB) * 100) / 100;

function occurrences(
  warnings: readonly LimitWarning[],
  kind: LimitWarning['kind'],
  args: (warning: LimitWarning) => Record<string, string | number | Date>,
  facts: (warning: LimitWarning) => object,
): Occurrence[] {
  const found = warnings.filter((warning) => warning.kind === kind);
  const [first] = found;
  if (!first) return [];
  const toAdmins: Occurrence = {
    args: {
      ...args(first),
      audience: 'admins',
      count: found.length,
      clients: found.map((warning) => ({ email: warning.email, ...args(warning) })),
    },
    data: { clients: found.map((warning) => ({ email: warning.email, ...facts(warning) })) },
  };
  const toClients = found.flatMap((warning): Occurrence[] =>
    warning.messengerId === 0
      ? []
      : [
          {
            args: { ...args(warning), audience: 'client', count: 1, clients: [] },
            data: { email: warning.email, ...facts(warning) },
            client: { id: warning.id, email: warning.email, messengerId: warning.messengerId },
          },
        ],
  );
  return [toAdmins, ...toClients];
}

export const quotaNear: NotifiedEvent<never> = notified({
  name: 'clientQuotaNear',
  severity: 'warning',
  isOnByDefault: true,
  hook: duringLimitWarning,
  describe: ({ warnings }) =>
    occurrences(
      warnings,
      'quota',
      ({ used, total }) => ({
        percent: Math.floor((100 * used) / total),
        left: inGib(total - used),
        total: inGib(total),
      }),
      ({ used, total }) => ({ used, total }),
    ),
  titles: {
    en: 'Traffic nearly used up',
    fa: 'حجم رو به پایان',
    ru: 'Трафик на исходе',
    zh: '流量即将用尽',
  },
  texts: {
    en: '{audience, select, client {You have used {percent, number} % of your traffic; {left, number} GiB of {total, number} GiB are left.} other {{count, plural, one {A client has nearly used up its traffic} other {# clients have nearly used up their traffic}}: {clients}.}}',
    fa: '{audience, select, client {شما {percent, number}٪ از حجم خود را مصرف کرده‌اید؛ {left, number} گیگابایت از {total, number} گیگابایت باقی مانده است.} other {حجم {count, plural, one {یک کاربر} other {# کاربر}} رو به پایان است: {clients}.}}',
    ru: '{audience, select, client {Вы израсходовали {percent, number} % трафика; осталось {left, number} ГиБ из {total, number} ГиБ.} other {Трафик на исходе у {count, plural, one {# клиента} few {# клиентов} many {# клиентов} other {# клиента}}: {clients}.}}',
    zh: '{audience, select, client {您已使用 {percent, number}% 的流量，还剩 {left, number} GiB（共 {total, number} GiB）。} other {{count, plural, other {# 个客户端}}的流量即将用尽：{clients}。}}',
  },
  items: {
    clients: {
      en: '{email} ({percent, number} %)',
      fa: '{email} ({percent, number}٪)',
      ru: '{email} ({percent, number} %)',
      zh: '{email}（{percent, number}%）',
    },
  },
});

export const expiryNear: NotifiedEvent<never> = notified({
  name: 'clientExpiryNear',
  severity: 'warning',
  isOnByDefault: true,
  hook: duringLimitWarning,
  describe: ({ warnings }) =>
    occurrences(
      warnings,
      'expiry',
      ({ expiryTime }) => ({ until: new Date(expiryTime) }),
      ({ expiryTime }) => ({ expiryTime }),
    ),
  titles: {
    en: 'Expiry is near',
    fa: 'نزدیک شدن پایان اعتبار',
    ru: 'Срок скоро истечёт',
    zh: '即将到期',
  },
  texts: {
    en: '{audience, select, client {Your access expires on {until, date, medium} at {until, time, short}.} other {{count, plural, one {A client expires soon} other {# clients expire soon}}: {clients}.}}',
    fa: '{audience, select, client {دسترسی شما در {until, date, medium} ساعت {until, time, short} به پایان می‌رسد.} other {زمان {count, plural, one {یک کاربر} other {# کاربر}} رو به پایان است: {clients}.}}',
    ru: '{audience, select, client {Ваш доступ истекает {until, date, medium} в {until, time, short}.} other {Скоро истекает срок у {count, plural, one {# клиента} few {# клиентов} many {# клиентов} other {# клиента}}: {clients}.}}',
    zh: '{audience, select, client {您的使用期将于 {until, date, medium} {until, time, short} 到期。} other {{count, plural, other {# 个客户端}}即将到期：{clients}。}}',
  },
  items: {
    clients: {
      en: '{email} on {until, date, medium}',
      fa: '{email} در {until, date, medium}',
      ru: '{email} {until, date, medium}',
      zh: '{email} {until, date, medium}',
    },
  },
});

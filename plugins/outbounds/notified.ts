// What admins are notified of about outbounds.
import { notified } from '../notifications/contract.js';
import { outboundDown, outboundUp } from './contract.js';

export const downOutbounds = notified({
  name: 'outboundDown',
  severity: 'warning',
  isOnByDefault: true,
  aliases: ['outbound.down'],
  hook: outboundDown,
  describe: ({ outbounds }) => [
    {
      args: { count: outbounds.length, outbounds: outbounds.map(({ tag, error }) => ({ tag, error })) },
      data: { outbounds: outbounds.map(({ tag, failures, error }) => ({ tag, failures, error })) },
    },
  ],
  titles: { en: 'Outbounds down', fa: 'قطع خروجی‌ها', ru: 'Исходящие недоступны', zh: '出站中断' },
  texts: {
    en: '{count, plural, one {An outbound is down} other {# outbounds are down}}: {outbounds}.',
    fa: '{count, plural, one {یک خروجی از کار افتاده است} other {# خروجی از کار افتاده‌اند}}: {outbounds}.',
    ru: '{count, plural, one {Не работает # исходящее подключение} few {Не работают # исходящих подключения} many {Не работают # исходящих подключений} other {Не работают # исходящих подключения}}: {outbounds}.',
    zh: '{count, plural, other {# 个出站已中断}}：{outbounds}。',
  },
  items: {
    outbounds: {
      en: '{tag} ({error})',
      fa: '{tag} ({error})',
      ru: '{tag} ({error})',
      zh: '{tag}（{error}）',
    },
  },
});

export const upOutbounds = notified({
  name: 'outboundUp',
  severity: 'info',
  isOnByDefault: true,
  aliases: ['outbound.up'],
  hook: outboundUp,
  describe: ({ outbounds }) => [
    {
      args: { count: outbounds.length, outbounds: outbounds.map(({ tag, delay }) => ({ tag, delay })) },
      data: { outbounds: outbounds.map(({ tag, delay }) => ({ tag, delay })) },
    },
  ],
  titles: {
    en: 'Outbounds work again',
    fa: 'وصل شدن دوبارهٔ خروجی‌ها',
    ru: 'Исходящие снова доступны',
    zh: '出站恢复',
  },
  texts: {
    en: '{count, plural, one {An outbound works again} other {# outbounds work again}}: {outbounds}.',
    fa: '{count, plural, one {یک خروجی دوباره کار می‌کند} other {# خروجی دوباره کار می‌کنند}}: {outbounds}.',
    ru: '{count, plural, one {Снова работает # исходящее подключение} few {Снова работают # исходящих подключения} many {Снова работают # исходящих подключений} other {Снова работают # исходящих подключения}}: {outbounds}.',
    zh: '{count, plural, other {# 个出站已恢复}}：{outbounds}。',
  },
  items: {
    outbounds: {
      en: '{tag} ({delay, number} ms)',
      fa: '{tag} ({delay, number} میلی‌ثانیه)',
      ru: '{tag} ({delay, number} мс)',
      zh: '{tag}（{delay, number} 毫秒）',
    },
  },
});

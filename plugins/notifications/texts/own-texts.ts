// Messages of the plugin itself.
import type { Texts } from '../contract.js';

interface OwnTexts {
  readonly title: Texts;
  readonly text: Texts;
}
export const OWN_TEXTS = {
  test: {
    title: { en: 'Test', fa: 'آزمایش', ru: 'Проверка', zh: '测试' },
    text: {
      en: 'This is a test.',
      fa: 'این یک پیام آزمایشی است.',
      ru: 'Это проверочное сообщение.',
      zh: '这是一条测试消息。',
    },
  },
  summary: {
    title: { en: '{title}', fa: '{title}', ru: '{title}', zh: '{title}' },
    text: {
      en: '{title}: {count, plural, one {# more time} other {# more times}} from {from, time, medium} to {to, time, medium}. Most recently: {latest}',
      fa: '{title}: {count, plural, one {# بار دیگر} other {# بار دیگر}} از {from, time, medium} تا {to, time, medium}. آخرین مورد: {latest}',
      ru: '{title}: ещё {count, plural, one {# раз} few {# раза} many {# раз} other {# раза}} с {from, time, medium} по {to, time, medium}. Последнее: {latest}',
      zh: '{title}：从 {from, time, medium} 到 {to, time, medium} 又发生 {count, plural, other {# 次}}。最近一次：{latest}',
    },
  },
  /** the rest of a long list */
  more: {
    title: { en: 'More', fa: 'بیشتر', ru: 'Ещё', zh: '更多' },
    text: {
      en: '{count, plural, one {# more} other {# more}}',
      fa: '{count, plural, one {# مورد دیگر} other {# مورد دیگر}}',
      ru: '{count, plural, one {ещё #} few {ещё #} many {ещё #} other {ещё #}}',
      zh: '{count, plural, other {另外 # 个}}',
    },
  },
  /** more events at once than the panel's queue of events takes */
  missed: {
    title: { en: '{title}', fa: '{title}', ru: '{title}', zh: '{title}' },
    text: {
      en: '{title}: so much happened at once that some of it may be missing here. The log has more.',
      fa: '{title}: رویدادهای هم‌زمان آن‌قدر زیاد بودند که شاید بخشی از آن‌ها اینجا نباشد. گزارش پنل کامل‌تر است.',
      ru: '{title}: одновременно произошло столько событий, что часть из них могла сюда не попасть. Подробности в журнале панели.',
      zh: '{title}：同时发生的事件过多，此处可能有遗漏。详情请查看面板日志。',
    },
  },
} as const satisfies Record<string, OwnTexts>;
export type OwnText = keyof typeof OWN_TEXTS;

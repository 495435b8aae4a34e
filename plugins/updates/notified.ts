// What admins are notified of about updates of the panel.
import { notified } from '../notifications/contract.js';
import { updateEnded, updateFound } from './contract.js';

export const foundUpdate = notified({
  name: 'updateFound',
  severity: 'info',
  isOnByDefault: true,
  hook: updateFound,
  // Without the notes: they are as long as the publisher likes.
  describe: ({ version, current, channel }) => [
    { args: { version, current, channel }, data: { version, current, channel } },
  ],
  titles: { en: 'Panel update', fa: 'به‌روزرسانی پنل', ru: 'Обновление панели', zh: '面板更新' },
  texts: {
    en: 'Version {version} of the panel can be installed{channel, select, dev { (a development version)} other {}}; {current} is running.',
    fa: 'نسخهٔ {version} پنل{channel, select, dev { (نسخهٔ آزمایشی)} other {}} آمادهٔ نصب است؛ نسخهٔ فعلی {current} است.',
    ru: 'Можно установить версию панели {version}{channel, select, dev { (версия для разработчиков)} other {}}; сейчас работает {current}.',
    zh: '可以安装面板版本 {version}{channel, select, dev {（开发版）} other {}}，当前版本为 {current}。',
  },
});

export const endedUpdate = notified({
  name: 'updateEnded',
  severity: 'info',
  isOnByDefault: true,
  hook: updateEnded,
  describe: ({ from, version, isDone, reason }) => [
    {
      args: { from, version, result: isDone ? 'done' : 'failed', reason },
      data: { from, version, isDone, reason },
      ...(!isDone && { severity: 'critical' as const }),
    },
  ],
  titles: {
    en: 'Panel update ended',
    fa: 'پایان به‌روزرسانی پنل',
    ru: 'Обновление панели завершено',
    zh: '面板更新结束',
  },
  texts: {
    en: '{result, select, done {The panel was updated from {from} to {version}.} other {The update of the panel from {from} to {version} failed: {reason}}}',
    fa: '{result, select, done {پنل از نسخهٔ {from} به {version} به‌روزرسانی شد.} other {به‌روزرسانی پنل از نسخهٔ {from} به {version} ناموفق بود: {reason}}}',
    ru: '{result, select, done {Панель обновлена с версии {from} до {version}.} other {Не удалось обновить панель с версии {from} до {version}: {reason}}}',
    zh: '{result, select, done {面板已从 {from} 更新到 {version}。} other {面板从 {from} 更新到 {version} 失败：{reason}}}',
  },
});

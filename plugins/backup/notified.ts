// What admins are notified of about scheduled backups. The alarm `backup` says the same; this is for channels that want nothing else.
import { alarmChanged } from '../alarms/contract.js';
import { notified } from '../notifications/contract.js';

export const failedBackup = notified({
  name: 'backupFailed',
  severity: 'critical',
  isOnByDefault: false,
  partOf: 'alarmRaised',
  aliases: ['backup.failed'],
  hook: alarmChanged,
  describe: ({ alarm: { name, isActive, text } }) =>
    name === 'backup' && isActive ? [{ args: { reason: text }, data: { reason: text } }] : [],
  titles: { en: 'Backup failed', fa: 'خطای پشتیبان‌گیری', ru: 'Сбой резервного копирования', zh: '备份失败' },
  texts: {
    en: 'The backups of the panel have a problem: {reason}',
    fa: 'پشتیبان‌گیری پنل مشکل دارد: {reason}',
    ru: 'Проблема с резервными копиями панели: {reason}',
    zh: '面板备份出现问题：{reason}',
  },
});

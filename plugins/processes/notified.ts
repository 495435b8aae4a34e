// What admins are notified of about programs beside the panel.
import { notified } from '../notifications/contract.js';
import { processStateChanged } from './contract.js';

export const failedProcess = notified({
  name: 'processFailed',
  severity: 'critical',
  isOnByDefault: true,
  hook: processStateChanged,
  describe: ({ plugin, name, to, reason }) =>
    to === 'failed' ? [{ args: { plugin, name, reason }, data: { plugin, name, reason } }] : [],
  titles: { en: 'Program failed', fa: 'از کار افتادن برنامه', ru: 'Сбой программы', zh: '程序故障' },
  texts: {
    en: 'The program {name} of the plugin {plugin} failed as often as allowed and is not started again: {reason}',
    fa: 'برنامهٔ {name} از افزونهٔ {plugin} بیش از حد مجاز از کار افتاد و دیگر راه‌اندازی نمی‌شود: {reason}',
    ru: 'Программа {name} плагина {plugin} исчерпала попытки запуска и больше не запускается: {reason}',
    zh: '插件 {plugin} 的程序 {name} 失败次数已达上限，不再启动：{reason}',
  },
});

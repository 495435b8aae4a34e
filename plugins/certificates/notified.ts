// What admins are notified of about orders of certificates.
import { notified } from '../notifications/contract.js';
import { certificateFailed } from './contract.js';

export const failedCertificate = notified({
  name: 'certificateFailed',
  severity: 'critical',
  isOnByDefault: true,
  hook: certificateFailed,
  describe: ({ id, names, reason }) => [
    {
      args: { names: names.map((name) => ({ name })), reason },
      data: { id, names, reason },
      quietKey: String(id),
    },
  ],
  titles: {
    en: 'Certificate not issued',
    fa: 'صادر نشدن گواهی',
    ru: 'Сертификат не выпущен',
    zh: '证书签发失败',
  },
  texts: {
    en: 'No certificate was issued for {names}: {reason}',
    fa: 'برای {names} گواهی صادر نشد: {reason}',
    ru: 'Сертификат для {names} не выпущен: {reason}',
    zh: '未能为 {names} 签发证书：{reason}',
  },
  items: { names: { en: '{name}', fa: '{name}', ru: '{name}', zh: '{name}' } },
});

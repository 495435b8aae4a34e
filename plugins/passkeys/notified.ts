// What admins are notified of about passkeys.
import { notified } from '../notifications/contract.js';
import { passkeyCopied } from './contract.js';

export const copied = notified({
  name: 'passkeyCopied',
  severity: 'critical',
  isOnByDefault: true,
  hook: passkeyCopied,
  describe: ({ username, name, ip }) => [{ args: { username, name, ip }, data: { username, name, ip } }],
  titles: {
    en: 'Passkey may be copied',
    fa: 'احتمال کپی شدن کلید عبور',
    ru: 'Возможна копия ключа доступа',
    zh: '通行密钥可能被复制',
  },
  texts: {
    en: 'A login with the passkey “{name}” of “{username}” from {ip} was refused: its counter went back, so there may be a copy of it. Remove it.',
    fa: 'ورود با کلید عبور «{name}» متعلق به «{username}» از {ip} رد شد: شمارندهٔ آن به عقب برگشته است و شاید کپی شده باشد. آن را حذف کنید.',
    ru: 'Вход с ключом доступа «{name}» пользователя «{username}» с адреса {ip} отклонён: его счётчик уменьшился, возможно, есть копия. Удалите его.',
    zh: '用户“{username}”的通行密钥“{name}”从 {ip} 的登录被拒绝：其计数器倒退，可能存在副本。请将其删除。',
  },
});

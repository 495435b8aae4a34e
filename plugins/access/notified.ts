// What admins are notified of about logins.
import { notified } from '../notifications/contract.js';
import { BLOCKED, loginAttempted } from './contract.js';

interface Attempt {
  readonly username: string;
  readonly ip: string;
  readonly ok: boolean;
  readonly reason: string;
}
/** The name under which older panels have every attempt. */
const aliases = ['login.attempt'];
const occurrence = ({ ip, username, reason }: Attempt, quietKey?: string) => ({
  args: { ip, username, reason },
  data: { ip, username, ...(reason !== '' && { reason }) },
  ...(quietKey !== undefined && { quietKey }),
});

export const blockedLogin = notified({
  name: 'loginBlocked',
  severity: 'warning',
  isOnByDefault: true,
  aliases,
  hook: loginAttempted,
  describe: ({ attempts }) =>
    attempts.filter(({ reason }) => reason === BLOCKED).map((attempt) => occurrence(attempt, attempt.ip)),
  titles: { en: 'Logins blocked', fa: 'مسدود شدن ورود', ru: 'Вход заблокирован', zh: '登录被阻止' },
  texts: {
    en: 'Logins from {ip} are blocked for a while after too many failed attempts, the last one as “{username}”.',
    fa: 'ورود از {ip} به‌دلیل تلاش‌های ناموفق زیاد موقتاً مسدود شد؛ آخرین تلاش با نام «{username}».',
    ru: 'Вход с адреса {ip} временно заблокирован: слишком много неудачных попыток, последняя под именем «{username}».',
    zh: '来自 {ip} 的登录因失败次数过多被暂时阻止，最后一次使用的用户名为“{username}”。',
  },
});

export const failedLogin = notified({
  name: 'loginFailed',
  severity: 'warning',
  isOnByDefault: false,
  aliases,
  hook: loginAttempted,
  describe: ({ attempts }) =>
    attempts.filter(({ ok, reason }) => !ok && reason !== BLOCKED).map((attempt) => occurrence(attempt)),
  titles: { en: 'Login failed', fa: 'ورود ناموفق', ru: 'Неудачный вход', zh: '登录失败' },
  texts: {
    en: 'A login as “{username}” from {ip} failed: {reason}.',
    fa: 'ورود با نام «{username}» از {ip} ناموفق بود: {reason}.',
    ru: 'Неудачная попытка входа под именем «{username}» с адреса {ip}: {reason}.',
    zh: '用户“{username}”从 {ip} 登录失败：{reason}。',
  },
});

export const successfulLogin = notified({
  name: 'loginSucceeded',
  severity: 'info',
  isOnByDefault: false,
  aliases,
  hook: loginAttempted,
  describe: ({ attempts }) => attempts.filter(({ ok }) => ok).map((attempt) => occurrence(attempt)),
  titles: { en: 'Login', fa: 'ورود', ru: 'Вход', zh: '登录' },
  texts: {
    en: '“{username}” logged in from {ip}.',
    fa: '«{username}» از {ip} وارد شد.',
    ru: 'Пользователь «{username}» вошёл с адреса {ip}.',
    zh: '用户“{username}”从 {ip} 登录成功。',
  },
});

// What admins are notified of about devices of clients.
import { notified } from '../notifications/contract.js';
import { deviceAdded, deviceRefused } from './contract.js';

export const addedDevice = notified({
  name: 'deviceAdded',
  severity: 'info',
  isOnByDefault: false,
  hook: deviceAdded,
  describe: ({ devices }) =>
    devices.map(({ email, userAgent, deviceOs, deviceModel, fingerprint }) => ({
      args: { email, userAgent },
      data: { email, userAgent, deviceOs, deviceModel, fingerprint },
    })),
  titles: { en: 'New device', fa: 'دستگاه تازه', ru: 'Новое устройство', zh: '新设备' },
  texts: {
    en: '{email} has a new device: {userAgent}.',
    fa: '{email} دستگاه تازه‌ای دارد: {userAgent}.',
    ru: 'У {email} новое устройство: {userAgent}.',
    zh: '{email} 有新设备：{userAgent}。',
  },
});

export const refusedDevice = notified({
  name: 'deviceRefused',
  severity: 'warning',
  isOnByDefault: false,
  hook: deviceRefused,
  describe: ({ devices }) =>
    devices.map(({ email, userAgent, limit, reason, fingerprint }) => ({
      args: { email, userAgent, limit, reason },
      data: { email, userAgent, limit, reason, fingerprint },
      quietKey: `${email} ${fingerprint}`,
    })),
  titles: { en: 'Device refused', fa: 'رد شدن دستگاه', ru: 'Устройство отклонено', zh: '设备被拒绝' },
  texts: {
    en: 'A device of {email} was refused ({userAgent}): {reason, select, limit {the limit is {limit, plural, one {# device} other {# devices}}} other {it sent no usable id}}.',
    fa: 'یک دستگاه {email} رد شد ({userAgent}): {reason, select, limit {سقف {limit, plural, one {# دستگاه} other {# دستگاه}} است} other {شناسهٔ معتبری نفرستاد}}.',
    ru: 'Устройство клиента {email} отклонено ({userAgent}): {reason, select, limit {предел {limit, plural, one {# устройство} few {# устройства} many {# устройств} other {# устройства}}} other {оно не передало пригодный идентификатор}}.',
    zh: '{email} 的设备被拒绝（{userAgent}）：{reason, select, limit {上限为 {limit, plural, other {# 台设备}}} other {未发送可用的标识}}。',
  },
});

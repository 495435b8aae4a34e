// What admins are notified of about alarms.
import { notified } from '../notifications/contract.js';
import { type Alarm, alarmChanged } from './contract.js';

const CERTIFICATE = 'certificate:';
const MEASURED: readonly string[] = ['cpu', 'memory', 'disk'];

function factsOf({ name, value, limit, text }: Alarm) {
  const isCertificate = name.startsWith(CERTIFICATE);
  const days = isCertificate && value !== null ? Math.floor(value) : 0;
  return {
    args: {
      kind: isCertificate ? (days < 0 ? 'expired' : 'certificate') : MEASURED.includes(name) ? name : 'state',
      name: isCertificate ? name.slice(CERTIFICATE.length) : name,
      value: isCertificate ? days : Math.round(value ?? 0),
      limit,
      problem: text,
    },
    data: { alarm: name, value, limit },
  };
}

export const raisedAlarm = notified({
  name: 'alarmRaised',
  severity: 'critical',
  isOnByDefault: true,
  hook: alarmChanged,
  describe: ({ alarm }) => (alarm.isActive ? [factsOf(alarm)] : []),
  titles: { en: 'Alarm', fa: 'هشدار', ru: 'Тревога', zh: '警报' },
  texts: {
    en: '{kind, select, cpu {The processors have been busy for a minute: {value, number} %, the limit is {limit, number} %.} memory {The memory of the machine is {value, number} % full, the limit is {limit, number} %.} disk {A disk of the panel is {value, number} % full, the limit is {limit, number} %.} certificate {The certificate of {name} expires in {value, plural, one {# day} other {# days}}.} expired {The certificate of {name} has expired.} other {{problem}}}',
    fa: '{kind, select, cpu {پردازنده‌ها یک دقیقه است که مشغول‌اند: {value, number}٪، سقف {limit, number}٪.} memory {{value, number}٪ از حافظهٔ دستگاه پر است، سقف {limit, number}٪.} disk {{value, number}٪ از یکی از دیسک‌های پنل پر است، سقف {limit, number}٪.} certificate {گواهی {name} تا {value, plural, one {# روز} other {# روز}} دیگر منقضی می‌شود.} expired {گواهی {name} منقضی شده است.} other {{problem}}}',
    ru: '{kind, select, cpu {Процессоры загружены уже минуту: {value, number} %, предел {limit, number} %.} memory {Память машины занята на {value, number} %, предел {limit, number} %.} disk {Диск панели заполнен на {value, number} %, предел {limit, number} %.} certificate {Сертификат {name} истекает через {value, plural, one {# день} few {# дня} many {# дней} other {# дня}}.} expired {Срок действия сертификата {name} истёк.} other {{problem}}}',
    zh: '{kind, select, cpu {处理器已持续繁忙一分钟：{value, number}%，上限为 {limit, number}%。} memory {机器内存已用 {value, number}%，上限为 {limit, number}%。} disk {面板所在磁盘已用 {value, number}%，上限为 {limit, number}%。} certificate {{name} 的证书将在 {value, plural, other {# 天}}后到期。} expired {{name} 的证书已过期。} other {{problem}}}',
  },
});

export const clearedAlarm = notified({
  name: 'alarmCleared',
  severity: 'info',
  isOnByDefault: true,
  hook: alarmChanged,
  describe: ({ alarm }) => (alarm.isActive ? [] : [factsOf(alarm)]),
  titles: { en: 'Alarm over', fa: 'پایان هشدار', ru: 'Тревога снята', zh: '警报解除' },
  texts: {
    en: '{kind, select, cpu {The processors are not busy any more.} memory {The machine has enough memory again.} disk {The disks of the panel have enough room again.} certificate {The certificate of {name} is valid for long enough again.} expired {The certificate of {name} is not served any more.} other {The alarm {name} is over.}}',
    fa: '{kind, select, cpu {پردازنده‌ها دیگر مشغول نیستند.} memory {حافظهٔ دستگاه دوباره کافی است.} disk {دیسک‌های پنل دوباره جای کافی دارند.} certificate {اعتبار گواهی {name} دوباره کافی است.} expired {گواهی {name} دیگر استفاده نمی‌شود.} other {هشدار {name} پایان یافت.}}',
    ru: '{kind, select, cpu {Процессоры больше не перегружены.} memory {Памяти машины снова достаточно.} disk {На дисках панели снова достаточно места.} certificate {Сертификат {name} снова действует достаточно долго.} expired {Сертификат {name} больше не используется.} other {Тревога {name} снята.}}',
    zh: '{kind, select, cpu {处理器不再繁忙。} memory {机器内存恢复充足。} disk {面板磁盘空间恢复充足。} certificate {{name} 的证书有效期恢复充足。} expired {{name} 的证书已不再使用。} other {警报 {name} 已解除。}}',
  },
});

/** One alarm as an event of its own, under the name that older panels have for it. */
const ofLevel = (name: string, alarm: string, alias: string, texts: typeof LEVEL_TEXTS.cpu) =>
  notified({
    name,
    severity: 'warning',
    isOnByDefault: false,
    partOf: 'alarmRaised',
    aliases: [alias],
    hook: alarmChanged,
    describe: ({ alarm: its }) => {
      const { args, data } = factsOf(its);
      return its.isActive && its.name === alarm
        ? [{ args: { value: args.value, limit: args.limit }, data }]
        : [];
    },
    ...texts,
  });
const LEVEL_TEXTS = {
  cpu: {
    titles: { en: 'Processors busy', fa: 'پردازندهٔ پرمشغله', ru: 'Высокая загрузка ЦП', zh: '处理器繁忙' },
    texts: {
      en: 'The processors have been busy for a minute: {value, number} %, the limit is {limit, number} %.',
      fa: 'پردازنده‌ها یک دقیقه است که مشغول‌اند: {value, number}٪، سقف {limit, number}٪.',
      ru: 'Процессоры загружены уже минуту: {value, number} %, предел {limit, number} %.',
      zh: '处理器已持续繁忙一分钟：{value, number}%，上限为 {limit, number}%。',
    },
  },
  memory: {
    titles: { en: 'Memory full', fa: 'پر شدن حافظه', ru: 'Мало памяти', zh: '内存不足' },
    texts: {
      en: 'The memory of the machine is {value, number} % full, the limit is {limit, number} %.',
      fa: '{value, number}٪ از حافظهٔ دستگاه پر است، سقف {limit, number}٪.',
      ru: 'Память машины занята на {value, number} %, предел {limit, number} %.',
      zh: '机器内存已用 {value, number}%，上限为 {limit, number}%。',
    },
  },
};
export const cpuAlarm = ofLevel('cpuHigh', 'cpu', 'cpu.high', LEVEL_TEXTS.cpu);
export const memoryAlarm = ofLevel('memoryHigh', 'memory', 'memory.high', LEVEL_TEXTS.memory);

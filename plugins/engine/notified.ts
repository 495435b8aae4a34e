// What admins are notified of about the core.
import { notified } from '../notifications/contract.js';
import { coreDrifted, coreMemoryHigh, coreStateChanged } from './contract.js';

const MIB = 1_048_576;

export const coreStates = notified({
  name: 'coreStateChanged',
  severity: 'info',
  isOnByDefault: true,
  hook: coreStateChanged,
  describe: ({ from, to, reason }) => [
    {
      args: { to, reason, hasReason: reason === '' ? 'no' : 'yes' },
      data: { from, to, reason },
      ...(to === 'error' && { severity: 'critical' as const }),
    },
  ],
  titles: { en: 'State of the core', fa: 'وضعیت هسته', ru: 'Состояние ядра', zh: '核心状态' },
  texts: {
    en: '{to, select, running {The core is running} stop {The core is stopped} other {The core failed; restarting it}}{hasReason, select, yes {: {reason}} other {.}}',
    fa: '{to, select, running {هسته در حال اجراست} stop {هسته متوقف است} other {هسته از کار افتاد و دوباره راه‌اندازی می‌شود}}{hasReason, select, yes {: {reason}} other {.}}',
    ru: '{to, select, running {Ядро работает} stop {Ядро остановлено} other {Ядро упало, выполняется перезапуск}}{hasReason, select, yes {: {reason}} other {.}}',
    zh: '{to, select, running {核心正在运行} stop {核心已停止} other {核心出现故障，正在重启}}{hasReason, select, yes {：{reason}} other {。}}',
  },
});

export const coreCrash = notified({
  name: 'coreCrashed',
  severity: 'critical',
  isOnByDefault: false,
  partOf: 'coreStateChanged',
  aliases: ['core.crash', 'engine.crash', 'xray.crash'],
  hook: coreStateChanged,
  describe: ({ to, reason }) => (to === 'error' ? [{ args: { reason }, data: { reason } }] : []),
  titles: { en: 'Core crashed', fa: 'از کار افتادن هسته', ru: 'Сбой ядра', zh: '核心崩溃' },
  texts: {
    en: 'The core failed; restarting it: {reason}',
    fa: 'هسته از کار افتاد و دوباره راه‌اندازی می‌شود: {reason}',
    ru: 'Ядро упало, выполняется перезапуск: {reason}',
    zh: '核心出现故障，正在重启：{reason}',
  },
});

export const coreMemory = notified({
  name: 'coreMemoryHigh',
  severity: 'warning',
  isOnByDefault: true,
  hook: coreMemoryHigh,
  describe: ({ bytes, limit }) => [
    {
      args: { used: Math.round(bytes / MIB), limit: Math.round(limit / MIB) },
      data: { bytes, limit },
    },
  ],
  titles: {
    en: 'Memory of the core',
    fa: 'حافظهٔ هسته',
    ru: 'Память ядра',
    zh: '核心内存',
  },
  texts: {
    en: 'The core uses {used, number} MiB of memory; the limit is {limit, number} MiB.',
    fa: 'هسته {used, number} مبی‌بایت حافظه مصرف می‌کند؛ سقف آن {limit, number} مبی‌بایت است.',
    ru: 'Ядро занимает {used, number} МиБ памяти, предел {limit, number} МиБ.',
    zh: '核心占用内存 {used, number} MiB，上限为 {limit, number} MiB。',
  },
});

export const coreDrift = notified({
  name: 'coreDrifted',
  severity: 'info',
  isOnByDefault: false,
  hook: coreDrifted,
  describe: ({ found }) => [
    { args: { count: found.length, found: found.map((what) => ({ what })) }, data: { found } },
  ],
  titles: {
    en: 'Core differed from the panel',
    fa: 'ناهماهنگی هسته با پنل',
    ru: 'Ядро разошлось с панелью',
    zh: '核心与面板不一致',
  },
  texts: {
    en: 'The core ran something else than it should; fixed {count, plural, one {# difference} other {# differences}}: {found}.',
    fa: 'هسته با تنظیمات پنل هماهنگ نبود؛ {count, plural, one {# اختلاف} other {# اختلاف}} برطرف شد: {found}.',
    ru: 'Ядро работало не так, как задано; {count, plural, one {исправлено # расхождение} few {исправлено # расхождения} many {исправлено # расхождений} other {исправлено # расхождения}}: {found}.',
    zh: '核心运行内容与面板设置不符，已修复 {count, plural, other {# 处}}：{found}。',
  },
  items: { found: { en: '{what}', fa: '{what}', ru: '{what}', zh: '{what}' } },
});

import { int, setting, inSection } from '../../kernel/index.js';

const percent = () => int().min(0).max(100);

export const alarmSettings = inSection('Alarms', {
  alarmCpu: setting(percent(), 90, 'percent of the processors above which an alarm is raised; 0 for none', {
    unit: '%',
  }),
  alarmMemory: setting(percent(), 90, 'percent of the memory above which an alarm is raised; 0 for none', {
    unit: '%',
  }),
  alarmDisk: setting(percent(), 90, 'percent of a disk above which an alarm is raised; 0 for none', {
    unit: '%',
  }),
  alarmCertificateDays: setting(
    int().min(0).max(365),
    14,
    'days before the end of a certificate from which an alarm is raised; 0 for none',
    { unit: 'days' },
  ),
});

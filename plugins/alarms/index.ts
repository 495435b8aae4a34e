import {
  afterKernelLead,
  bool,
  contribute,
  definePlugin,
  int,
  job,
  kernelReady,
  list,
  maybe,
  nullable,
  num,
  payload,
  provide,
  route,
  shape,
  singleton,
  tap,
  text,
} from '../../kernel/index.js';
import { Panels } from '../cluster/contract.js';
import { ServerStatus } from '../server-status/contract.js';
import { PanelListener } from '../settings/contract.js';
import { NotifiedEvents } from '../notifications/contract.js';
import { ActiveAlarms } from './active-alarms.js';
import { alarmChanged, Alarms } from './contract.js';
import { Readings } from './readings.js';
import { alarmSettings } from './settings.js';
import { migrations, tables } from './tables.js';
import { raisedAlarm, clearedAlarm, cpuAlarm, memoryAlarm } from './notified.js';

export default definePlugin({
  name: 'alarms',
  version: '0.1.0',
  api: 1,
  about: 'Raises alarms about processors, memory, disks and certificates.',
  uses: { status: maybe(ServerStatus), panel: maybe(PanelListener), panels: maybe(Panels) },
  settings: alarmSettings,
  hooks: [alarmChanged],
  tables,
  migrations,
  services: { alarms: singleton(ActiveAlarms), readings: singleton(Readings) },
  provides: ({ alarms }) => [provide(Alarms, alarms)],
  contributes: () => [
    contribute(NotifiedEvents, raisedAlarm),
    contribute(NotifiedEvents, clearedAlarm),
    contribute(NotifiedEvents, cpuAlarm),
    contribute(NotifiedEvents, memoryAlarm),
  ],
  taps: ({ settings, readings, alarms, panels }) => [
    tap(afterKernelLead, () => (panels?.number ? alarms.start() : undefined)),
    tap(kernelReady, () => readings.certificates()),
    settings.changed(() => readings.readCertificatesSoon()),
  ],
  routes: ({ alarms }) => [
    route({
      method: 'GET',
      path: '/panel/api/x/alarms',
      name: 'alarms.list',
      doc: 'Every alarm that is measured, active or not: cpu, memory and disk in percent, and certificates in days that are left.',
      reply: payload(
        list(
          shape({
            name: text(),
            isActive: bool(),
            since: int().min(0).description('Unix ms of the last change; 0: never'),
            value: nullable(num()),
            limit: num().description('0: no alarm'),
            text: text(),
          }),
        ),
      ),
      handle: () => alarms.list(),
    }),
  ],
  jobs: ({ readings }) => [
    job('machine', '10s', () => readings.machine()),
    job('certificates', '1h', () => readings.certificates()),
  ],
  start: async ({ alarms }) => alarms.start(),
});

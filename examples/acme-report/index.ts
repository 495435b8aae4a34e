import {
  contribute,
  definePlugin,
  event,
  message,
  oneOf,
  route,
  shape,
  withDefault,
  word,
} from '@weir-panel/weir/kernel';
import { NotifiedEvents, notified } from '@weir-panel/weir/plugins/notifications';

interface Report {
  readonly subject: string;
  readonly state: 'failed' | 'done';
}
const reported = event<{ readonly reports: readonly Report[] }>('acme-report/reported');

const reports = notified({
  name: 'acme-report.reported',
  severity: 'info',
  isOnByDefault: true,
  hook: reported,
  describe: ({ reports: all }) =>
    all.map(({ subject, state }) => ({
      args: { subject, state },
      data: { subject, state },
      severity: state === 'failed' ? 'critical' : 'info',
    })),
  titles: { en: 'Report of a script', ru: 'Отчёт скрипта' },
  texts: {
    en: '{state, select, failed {{subject} failed.} other {{subject} is done.}}',
    ru: '{state, select, failed {{subject}: ошибка.} other {{subject}: готово.}}',
  },
});

export default definePlugin({
  name: 'acme-report',
  version: '1.0.0',
  api: 1,
  about: 'Lets scripts notify the admins.',
  hooks: [reported],
  contributes: () => [contribute(NotifiedEvents, reports)],
  routes: ({ hooks }) => [
    route({
      method: 'POST',
      path: '/panel/api/x/acme-report/reports',
      name: 'acmeReport.report',
      doc: 'Notifies the admins of what a script did.',
      body: shape({ subject: word().max(100), state: withDefault(oneOf('failed', 'done'), 'done') }),
      reply: message(),
      handle: ({ body }) => hooks.emit(reported, { reports: [body] }),
    }),
  ],
});

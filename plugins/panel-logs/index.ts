// Shows the panel's log to admins, and changes its level while it runs.
import {
  bool,
  contribute,
  definePlugin,
  int,
  list,
  maybe,
  oneOf,
  optional,
  payload,
  route,
  setting,
  shape,
  singleton,
  tap,
  text,
  TimeSlice,
  withDefault,
  inSection,
} from '../../kernel/index.js';
import { LiveLogs } from '../realtime/contract.js';
import {
  afterSettingsSave,
  panelSettings,
  SettingGroups,
  Settings,
  timeZoneOf,
} from '../settings/contract.js';
import { PanelLog } from './contract.js';
import { errors } from './errors.js';
import { Journal } from './journal.js';
import { LEVEL_NAMES, levelOf } from './levels.js';
import { lineWriter } from './line.js';
import { liveLog, tailRoute } from './live-log.js';

const MOST_LINES = 10_000;

const logSettings = inSection(
  'Log of the panel',
  {
    logLevel: setting(
      oneOf('debug', 'info', 'warn', 'error'),
      'info',
      'least severe level that the panel logs; in force at once',
    ),
  },
  { level: 'advanced' },
);

export default definePlugin({
  name: 'panel-logs',
  version: '0.1.0',
  api: 1,
  about: "Shows the panel's log, and changes its level while the panel runs.",
  uses: { panelLog: maybe(PanelLog), panel: Settings },
  services: { journal: singleton(Journal) },
  contributes: ({ panelLog, panel }) => {
    const { value, source } = panelLog?.configured ?? { value: 'info', source: 'default' };
    return [
      contribute(LiveLogs, liveLog({ panelLog, panel })),
      contribute(SettingGroups, {
        group: logSettings,
        pinned: { ...(source === 'environment' && { logLevel: { value, variable: 'WEIR_LOG_LEVEL' } }) },
        defaults: { ...(source === 'file' && { logLevel: value }) },
      }),
    ];
  },
  taps: ({ panelLog, panel }) => [
    tap(afterSettingsSave, () => {
      if (panelLog) panelLog.level = panel.read(logSettings).logLevel;
    }),
  ],
  start: ({ panelLog, panel }) => {
    if (panelLog) panelLog.level = panel.read(logSettings).logLevel;
  },
  routes: ({ panelLog, panel, journal }) => [
    tailRoute({ panelLog, panel }),
    route({
      method: 'POST',
      path: '/panel/api/server/logs/{count}',
      name: 'server.logs',
      doc: "The last lines of the panel's log, newest first, of this level and of more severe ones. Without `syslog` from memory, since the process began: at most 10,240 lines and 4 MiB. With it from the journal of the service, as far as its last 16 MiB go.",
      params: shape({ count: int().min(1).max(MOST_LINES).example(100) }),
      form: true,
      body: optional(
        shape({
          level: withDefault(oneOf(...LEVEL_NAMES), 'info').description(
            'a level of the panel (debug, info, warn, error), or a name or number of syslog',
          ),
          syslog: withDefault(bool(), false).description('true: the journal of systemd'),
        }),
      ).example({ level: 'warning' }),
      reply: payload(list(text())),
      errors: [errors.NO_LOG, errors.NO_JOURNAL, errors.JOURNAL_SLOW],
      handle: async ({ params: { count }, body: { level = 'info', syslog = false } = {} }) => {
        if (!panelLog) throw errors.NO_LOG();
        const least = levelOf(level);
        const lines = syslog ? await journal.last(count, least) : panelLog.last(count, least);
        const write = lineWriter(timeZoneOf(panel.read(panelSettings).timeLocation));
        const slice = new TimeSlice();
        const texts: string[] = [];
        for (const line of lines) {
          if (slice.isOver) await slice.next();
          texts.push(write(line));
        }
        return texts;
      },
    }),
  ],
});

// The log of the panel as it is written: its last lines with the place where they end, and those after a place.
import {
  bool,
  int,
  list,
  oneOf,
  optional,
  payload,
  type Route,
  route,
  shape,
  text,
  withDefault,
} from '../../kernel/index.js';
import { type LiveLog, PLACE_FORM, placeIn, textOfPlace } from '../realtime/contract.js';
import { panelSettings, type SettingsApi, timeZoneOf } from '../settings/contract.js';
import type { LogLevel, PanelLogApi } from './contract.js';
import { errors } from './errors.js';
import { lineWriter } from './line.js';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[];
const MOST_LINES = 10_000;
/** Characters of a line that is sent as it is written; the tail has it whole. */
const LONGEST_LINE = 4_096;

interface Needs {
  readonly panelLog: PanelLogApi | undefined;
  readonly panel: SettingsApi;
}
const writerOf = ({ panel }: Needs) => lineWriter(timeZoneOf(panel.read(panelSettings).timeLocation));
const cut = (line: string): string =>
  line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE)}… [${line.length} characters]`;

/** Lines are as in `server/logs`, of all levels. */
export const liveLog = (needs: Needs): LiveLog => ({
  type: 'panel_log',
  end: () => needs.panelLog?.end(),
  since: ({ epoch, at }, most) => {
    const { panelLog } = needs;
    const end = panelLog?.end();
    if (!panelLog || !end || end.epoch !== epoch || at > end.at) return undefined;
    const lines = panelLog.since(at, most);
    const write = writerOf(needs);
    return { lines: lines.map((line) => cut(write(line))), leftOut: end.at - at - lines.length, end };
  },
});

export const tailRoute = (needs: Needs): Route =>
  route({
    method: 'GET',
    path: '/panel/api/x/panel-logs/tail',
    name: 'panelLogs.tail',
    doc: "The last lines of the panel's log, oldest first, of this level and of more severe ones, with the place where they end. With `after`, only those after that place. The live stream goes on from there (`watch`, log `panel_log`).",
    query: shape({
      count: withDefault(int().min(1).max(MOST_LINES), 500),
      level: withDefault(oneOf(...LEVELS), 'info'),
      after: optional(text().max(80).pattern(PLACE_FORM, 'an `end` of an earlier call').example('k3v9.1200')),
    }),
    reply: payload(
      shape({
        lines: list(text()),
        end: text().description('the place after the last line'),
        goesOn: bool().description(
          'the lines are those after `after`; false: that place is of another process, and these are the last lines',
        ),
        leftOut: int().description('lines after `after`, of any level, that were not looked at'),
      }),
    ),
    errors: [errors.NO_LOG],
    handle: ({ query: { count, level, after } }) => {
      const { panelLog } = needs;
      if (!panelLog) throw errors.NO_LOG();
      const write = writerOf(needs);
      const end = panelLog.end();
      const place = after === undefined ? undefined : placeIn(after);
      const goesOn = place !== undefined && place.epoch === end.epoch && place.at <= end.at;
      if (!goesOn)
        return {
          lines: panelLog.last(count, level).toReversed().map(write),
          end: textOfPlace(end),
          goesOn,
          leftOut: 0,
        };
      const since = panelLog.since(place.at, count);
      const floor = LEVELS.indexOf(level);
      return {
        lines: since.filter((line) => LEVELS.indexOf(line.level) >= floor).map(write),
        end: textOfPlace(end),
        goesOn,
        leftOut: end.at - place.at - since.length,
      };
    },
  });

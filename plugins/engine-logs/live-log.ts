// The core's log of connections as it is written: its last entries with the place where they end, and those after a place.
import {
  bool,
  int,
  list,
  optional,
  payload,
  type Route,
  route,
  shape,
  text,
  withDefault,
} from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import type { CoreLogApi } from '../engine/contract.js';
import { type LiveLog, PLACE_FORM, placeIn, textOfPlace } from '../realtime/contract.js';
import { entriesIn, shortened } from './last-entries.js';
import { Entry, MOST_LINES, wantedFields } from './shapes.js';

interface Needs {
  readonly coreLog: CoreLogApi | undefined;
  readonly clients: ClientsApi;
}

/** Entries are as in `server/enginelogs`, all of them, with long addresses cut. */
export const liveLog = (needs: Needs): LiveLog => ({
  type: 'core_log',
  end: () => needs.coreLog?.end(),
  since: async ({ epoch, at: after }, most) => {
    const end = await needs.coreLog?.end();
    if (!end || end.epoch !== epoch || after > end.at) return undefined;
    const { entries, more } = await entriesIn(needs, most, {}, { after, end: end.at });
    return { lines: entries.map(shortened), leftOut: more, end };
  },
});

export const tailRoute = (needs: Needs): Route =>
  route({
    method: 'GET',
    path: '/panel/api/x/engine-logs/tail',
    name: 'engineLogs.tail',
    doc: 'The last connections that users opened, oldest first, as in `server/enginelogs`, with the place where the log ends. With `after`, only those after that place. The live stream goes on from there (`watch`, log `core_log`).',
    query: shape({
      count: withDefault(int().min(1).max(MOST_LINES), 500),
      after: optional(text().max(80).pattern(PLACE_FORM, 'an `end` of an earlier call').example('k3v9.1200')),
      ...wantedFields,
    }),
    reply: payload(
      shape({
        lines: list(Entry),
        end: text().description('the place after the last entry; blank while no core runs'),
        goesOn: bool().description(
          'the entries are those after `after`; false: that place is of another log, and these are the last entries',
        ),
        leftOut: int().description(
          'further entries after `after` that match, as far as the last 8 MiB of the log go',
        ),
      }),
    ),
    handle: async ({ query: { count, after, ...wanted } }) => {
      const end = await needs.coreLog?.end();
      if (!end) return { lines: [], end: '', goesOn: false, leftOut: 0 };
      const place = after === undefined ? undefined : placeIn(after);
      const goesOn = place !== undefined && place.epoch === end.epoch && place.at <= end.at;
      const range = { end: end.at, ...(goesOn && { after: place.at }) };
      const { entries, more } = await entriesIn(needs, count, wanted, range);
      return { lines: entries, end: textOfPlace(end), goesOn, leftOut: more };
    },
  });

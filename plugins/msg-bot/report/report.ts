// The report: the server, and the clients whose limits end.
import { type Screen, button } from '../chat/screen.js';
import { bold } from '../chat/dispatcher.js';
import { endingClients } from '../screens/ending.js';
import type { Parts } from '../screens/parts.js';
import { expiry, type Reader, serverText } from '../screens/views.js';

const MOST_NAMED = 40;

/** Lines of the report, each short enough for a message. */
export async function reportLines(parts: Parts, reader: Reader): Promise<string[]> {
  const { texts, zone } = reader;
  const { count, rows } = await endingClients(parts, MOST_NAMED);
  return [
    texts.html('reportTitle', { at: texts.moment(parts.clock.now(), zone) }),
    '',
    await serverText(parts, reader),
    '',
    texts.html('depletingList', { count }),
    ...rows.map(
      (row) =>
        `${row.enable ? '🟠' : '⚪️'} ${bold(row.email)} ${texts.bytes(row.up + row.down)}${row.totalGB > 0 ? ` / ${texts.bytes(row.totalGB)}` : ''}, ${expiry(reader, row.expiryTime)}`,
    ),
    ...(count > rows.length ? [texts.html('more', { count: count - rows.length })] : []),
  ];
}

export const reportScreen = (parts: Parts): Screen => ({
  for: 'admin',
  actions: {
    report: async (turn) => turn.say(await reportLines(parts, turn), [[button(turn, 'menu', 'menu')]]),
  },
});

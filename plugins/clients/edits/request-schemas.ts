// Queries, bodies and results of edits, beside whole clients.
import { bool, int, list, optional, shape, text, withDefault, word } from '../../../kernel/index.js';
import { nonNegative } from '../model/value-schemas.js';

export const KeepTraffic = shape({
  keepTraffic: withDefault(text().valid('', '0', '1', 'true', 'false'), '').description(
    '1 to retain its usage for a client with the same email that is created later',
  ),
});
export const inboundIds = () => list(int().min(1)).max(1000);
export const InboundIds = shape({ inboundIds: inboundIds() }).example({ inboundIds: [1] });
export const sentEmails = () => list(text().max(255)).max(10_000);
const SOME = ['ada@example.org'];
export const Emails = shape({ emails: sentEmails() }).example({ emails: SOME });
export const EmailsAndInbounds = shape({
  emails: sentEmails(),
  inboundIds: inboundIds(),
}).example({ emails: SOME, inboundIds: [1] });
export const deletionFields = { keepTraffic: withDefault(bool(), false) };
export const BulkDelete = shape({ emails: sentEmails(), ...deletionFields }).example({
  emails: SOME,
  keepTraffic: true,
});
export const adjustmentFields = {
  addDays: withDefault(int().min(-36_500).max(36_500), 0),
  addBytes: withDefault(int(), 0),
  flow: withDefault(text().valid('', 'none', 'xtls-rprx-vision', 'xtls-rprx-vision-udp443'), '').description(
    'none to clear it',
  ),
  limitHwid: optional(nonNegative()).description('devices; 0 for no limit'),
  adTag: withDefault(
    text().pattern(/^(?:none|[0-9a-f]{32})?$/i, '32 hexadecimal digits, none, or blank'),
    '',
  ).description('blank to leave it, none to clear it'),
};
export const BulkAdjust = shape({ emails: sentEmails(), ...adjustmentFields }).example({
  emails: SOME,
  addDays: 30,
});
export const SentUsage = shape({ upload: nonNegative(), download: nonNegative() }).example({
  upload: 1_048_576,
  download: 10_485_760,
});
export const Email = shape({ email: word().example('ada@example.org') });
/** `index` counts the items that were sent, from 0. */
export const SkippedItems = list(
  shape({ index: nonNegative(), email: text(), reason: text(), code: text() }),
);
export const Skipped = list(shape({ email: text(), reason: text(), code: text() }));

// Entries of the log, and what chooses them, as the API has them.
import { bool, int, shape, text, withDefault } from '../../kernel/index.js';

export const MOST_LINES = 10_000;

export const wantedFields = {
  filter: withDefault(text().max(256).allow(''), '').description(
    'shows only entries with this text in a field, in any case',
  ),
  showDirect: withDefault(bool(), true),
  showBlocked: withDefault(bool(), true),
  showProxy: withDefault(bool(), true),
};

export const Entry = shape({
  DateTime: text().description('ISO 8601, to the second'),
  FromAddress: text(),
  ToAddress: text(),
  Inbound: text(),
  Outbound: text(),
  Email: text(),
  Event: int(),
});

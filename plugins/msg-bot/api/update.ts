// Updates as the Bot API sends them. Only the fields that the bot reads are checked and kept.
import { bool, inspect, int, list, optional, shape, type Static, text, word } from '../../../kernel/index.js';

/** The next id is one more, and must be a safe integer too: it is stored, and a backup with another number is not restored. */
const UpdateId = () =>
  int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER - 1);
const User = shape({ id: int().min(1), is_bot: optional(bool()), language_code: optional(text().max(35)) });
const Chat = shape({ id: int(), type: word().max(32) });
const Message = shape({
  message_id: int(),
  from: optional(User),
  chat: Chat,
  text: optional(text().max(8_192)),
  users_shared: optional(shape({ users: list(shape({ user_id: int().min(1) })).max(10) })),
});
const Pressed = shape({
  id: word().max(128),
  from: User,
  data: optional(text().max(256)),
  message: optional(shape({ message_id: int(), chat: Chat })),
});
const Update = shape({
  update_id: UpdateId(),
  message: optional(Message),
  callback_query: optional(Pressed),
});
export type BotUpdate = Static<typeof Update>;

const HasId = shape({ update_id: UpdateId() });
export const MOST_UPDATES = 100;

/** What the bot asks for. */
export const ALLOWED_UPDATES = ['message', 'callback_query'] as const;

/** Returns the update; only its id, where the rest is not readable; undefined for anything else. */
export function readUpdate(value: unknown): BotUpdate | undefined {
  const whole = inspect(Update, value);
  if ('value' in whole) return whole.value as BotUpdate;
  const id = inspect(HasId, value);
  return 'value' in id ? (id.value as BotUpdate) : undefined;
}

/** Returns the updates of a reply in their order; undefined where it is not a list of updates. */
export function readUpdates(value: unknown): BotUpdate[] | undefined {
  if (!Array.isArray(value) || value.length > MOST_UPDATES) return undefined;
  const updates = value.map(readUpdate);
  return updates.every((update) => update !== undefined)
    ? updates.sort((a, b) => a.update_id - b.update_id)
    : undefined;
}

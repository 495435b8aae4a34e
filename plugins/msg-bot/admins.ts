// The chats that the setting msgBotChatId names.

const MOST = 100;
const ID = /^-?\d{1,16}$/;

const partsOf = (setting: string): string[] =>
  setting
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Why a value of the setting is not valid; undefined if it is. */
export function adminIdsProblem(setting: string): string | undefined {
  const parts = partsOf(setting);
  const wrong = parts.find(
    (part) => !ID.test(part) || !Number.isSafeInteger(Number(part)) || Number(part) === 0,
  );
  if (wrong !== undefined) return `${JSON.stringify(wrong.slice(0, 40))} is not the id of a user or a group`;
  return parts.length > MOST ? `it may have ${MOST} ids` : undefined;
}

/** All chats of the setting, each once. */
export const adminChats = (setting: string): readonly number[] => [...new Set(partsOf(setting).map(Number))];

/** Whether this user is an admin of the bot. Groups, whose ids are negative, are not. */
export const isAdmin = (setting: string, userId: number): boolean =>
  userId > 0 && adminChats(setting).includes(userId);

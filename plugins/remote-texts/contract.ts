// Texts of settings that stand elsewhere: the setting holds an https URL, and the text is fetched in the background.
import { extensionPoint, token } from '../../kernel/index.js';

/** A setting that may hold a text, or the URL of one. */
export interface RemoteText {
  /** its name */
  readonly setting: string;
  /** its value now */
  value(): string;
  /** of the text */
  readonly maxBytes: number;
  /** Throws with a sentence where the text cannot be used; the last good one stays. */
  check(text: string): void;
}
/** Settings that may hold the https URL of a text in place of the text. */
export const RemoteTextSources = extensionPoint<RemoteText>(
  'remote-texts',
  'RemoteTextSources',
  ({ setting, value, maxBytes, check }, _, others) => {
    if (typeof setting !== 'string' || typeof value !== 'function' || typeof check !== 'function')
      return 'it needs the name of a setting, and the functions value and check';
    if (!Number.isSafeInteger(maxBytes) || maxBytes < 1) return 'its maxBytes must be a whole number above 0';
    const other = others.find((one) => one.value.setting === setting);
    return other && `plugin ${other.plugin} already has the setting ${setting}`;
  },
);

export interface RemoteTextsApi {
  /** The value itself; where it is a URL, the text that was fetched last, '' until there is one. From memory. */
  textOf(setting: string, value: string): string;
}
/** The texts of settings, whether they stand there or elsewhere. */
export const RemoteTexts = token<RemoteTextsApi>('remote-texts', 'RemoteTexts');

const LONGEST_URL = 2048;
/** Whether a value is the URL of a text: one word that begins with `https://`. */
export const isRemote = (value: string): boolean => /^\s*https:\/\/\S*\s*$/i.test(value);
/** The text of a setting; '' where it stands elsewhere and there is none, or no plugin fetches it. */
export const textOf = (remote: RemoteTextsApi | undefined, setting: string, value: string): string =>
  remote?.textOf(setting, value) ?? (isRemote(value) ? '' : value);
/** The check of such a setting, which throws with a sentence: of the URL where there is one, otherwise of the text. */
export const orRemote =
  (check: (text: string) => unknown) =>
  (value: string): void => {
    if (!isRemote(value)) return void check(value);
    const url = value.trim();
    if (url.length > LONGEST_URL) throw new Error(`its URL must have at most ${LONGEST_URL} characters`);
    if (!URL.canParse(url)) throw new Error('it is not a valid URL');
    const { username, password } = new URL(url);
    if (username !== '' || password !== '') throw new Error('its URL must have no user name and no password');
  };

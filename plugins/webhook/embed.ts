// Embeds, within the limits of the chat. They count UTF-16 units, as JavaScript does.

export interface EmbedField {
  readonly name: string;
  readonly value: string;
  readonly inline?: boolean;
}
export interface Embed {
  readonly title: string;
  readonly description?: string;
  readonly color: number;
  readonly fields?: readonly EmbedField[];
  readonly footer?: { readonly text: string };
  /** RFC 3339 */
  readonly timestamp: string;
}

const MOST = {
  title: 256,
  description: 4_096,
  name: 256,
  value: 1_024,
  footer: 2_048,
  fields: 25,
  all: 6_000,
};
export const COLORS = { green: 0x2e_cc_71, red: 0xe7_4c_3c, orange: 0xf3_9c_12, blue: 0x34_98_db } as const;

/** Cuts a text without halving a character; a blank one is a hyphen, because the chat refuses it. */
export function cut(text: string, most: number): string {
  const plain = text.replaceAll(/\p{Cs}/gu, '\uFFFD').trim();
  if (plain === '') return '-';
  if (plain.length <= most) return plain;
  // Neither half a character nor half an escape may stand before the dots.
  const kept = plain.slice(0, most - 3).replace(/[\uD800-\uDBFF]$/, '');
  return `${kept.replace(/(?<!\\)(?:\\\\)*\\$/, (end) => end.slice(1))}...`;
}

/** Emails and names are shown as they are, whatever marks they contain. */
export const escaped = (text: string): string => text.replaceAll(/[\\*_~`|>#[\]()<@:-]/g, '\\$&');

/** The embed as it is sent; what is too long is cut. */
export function fitted({ title, description, color, fields = [], footer, timestamp }: Embed): Embed {
  const fit = {
    title: cut(title, MOST.title),
    ...(footer && { footer: { text: cut(footer.text, MOST.footer) } }),
  };
  let left = MOST.all - fit.title.length - (fit.footer?.text.length ?? 0);
  const told =
    description === undefined ? {} : { description: cut(description, Math.min(MOST.description, left)) };
  left -= told.description?.length ?? 0;
  const shown: EmbedField[] = [];
  for (const field of fields.slice(0, MOST.fields)) {
    const name = cut(field.name, MOST.name);
    const room = Math.min(MOST.value, left - name.length);
    if (room < 8) break;
    const value = cut(field.value, room);
    left -= name.length + value.length;
    shown.push({ name, value, ...(field.inline !== undefined && { inline: field.inline }) });
  }
  return { ...fit, ...told, color, ...(shown.length > 0 && { fields: shown }), timestamp };
}

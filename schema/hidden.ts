// Invisible characters: with them two names could look the same, and a text could show in another order than it has.

/** Zero-width characters, variation selectors, fillers, marks and overrides of direction (Unicode, DerivedCoreProperties), ends of lines, annotations, the blank Braille pattern. */
const HIDDEN = /[\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\ufff9-\ufffb\u2800]/u;
let emoji: RegExp | undefined;
/** Emoji of several characters have some of these within. The flag `v` needs a newer target in a literal; V8 takes 10 ms to make it, so it is built at first use. */
const emojiPattern = (): RegExp =>
  (emoji ??= new RegExp(['\\p{RGI_Emoji}', '\\p{Extended_Pictographic}[\\ufe0e\\ufe0f]'].join('|'), 'gv'));
/** Joiners are part of the spelling in Persian and in Indian scripts; single direction marks keep mixed texts in order. */
const SPELLING =
  /(?<=(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{L}\p{M}*)[\u200c\u200d](?=\p{L})|[\u200e\u200f\u061c]/gu;
const PLAIN = /^[\x20-\x7e]*$/;

/** The first invisible character, as `U+200B`; undefined without one. A `label` is only displayed; a `name` is also an identifier. */
export function hiddenCharacter(text: string, kind: 'name' | 'label'): string | undefined {
  if (PLAIN.test(text)) return undefined;
  const rest = text.replaceAll(emojiPattern(), '');
  const [hidden] = HIDDEN.exec(kind === 'label' ? rest.replaceAll(SPELLING, '') : rest) ?? [];
  return hidden && `U+${hidden.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
}

// The texts of each language are a file of their own, which is loaded when somebody reads it.
import type { Texts } from './messages.js';

const FILES: Readonly<Record<string, () => Promise<{ readonly default: object }>>> = {
  en: () => import('./texts/en.json'),
  fa: () => import('./texts/fa.json'),
  ru: () => import('./texts/ru.json'),
  zh: () => import('./texts/zh.json'),
  ar: () => import('./texts/ar.json'),
};

export async function loadTexts(language: string): Promise<Texts> {
  const load = FILES[language];
  if (!load) throw new Error(`load-texts.ts has no texts in the language "${language}"`);
  return (await load()).default as Texts;
}

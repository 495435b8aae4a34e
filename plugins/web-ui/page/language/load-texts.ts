// The texts of each language are two files: what the first pages need, and all others (see build/messages.mjs).
import type { Texts } from './messages.js';

type Load = () => Promise<{ readonly default: object }>;
const FILES: Readonly<Record<string, readonly [first: Load, later: Load]>> = {
  en: [() => import('./texts/en.json'), () => import('./texts/en.json?later')],
  fa: [() => import('./texts/fa.json'), () => import('./texts/fa.json?later')],
  ru: [() => import('./texts/ru.json'), () => import('./texts/ru.json?later')],
  zh: [() => import('./texts/zh.json'), () => import('./texts/zh.json?later')],
  ar: [() => import('./texts/ar.json'), () => import('./texts/ar.json?later')],
};

export async function loadTexts(language: string, part: 'first' | 'later'): Promise<Texts> {
  const files = FILES[language];
  if (!files) throw new Error(`load-texts.ts has no texts in the language "${language}"`);
  return (await files[part === 'first' ? 0 : 1]()).default as Texts;
}

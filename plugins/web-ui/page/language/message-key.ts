import type en from './texts/en.json';

/** The key of a text; English has them all. */
export type MessageKey = keyof typeof en;

import { word } from '../../kernel/index.js';

/** Excludes control characters and lone surrogates, which some databases do not store unchanged. */
const PLAIN = /^[^\p{Cc}\p{Cs}]*$/u;
export const printableWord = () => word().pattern(PLAIN, 'text without control characters');

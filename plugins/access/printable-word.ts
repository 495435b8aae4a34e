import { word } from '../../kernel/index.js';

/** What no person types and no database stores as it came: control characters, halves of surrogate pairs. */
const PLAIN = /^[^\p{Cc}\p{Cs}]*$/u;
export const plainWord = () => word().pattern(PLAIN, 'text without control characters');

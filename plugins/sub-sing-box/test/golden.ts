// What a version gets for a subscription with the entries in which versions differ, beside one that is the same for all.
import { defaultTemplate } from '../default-template.js';
import { compileDocument } from '../document.js';
import { formsFor } from '../forms.js';
import { compileOutbound } from '../outbound.js';
import type { Minor } from '../version.js';
import { CLIENT, FURTHER, GECKO, MATRIX, type Named } from './matrix.js';

const NAMES = ['vless / tcp / reality', 'trojan / ws / tls ech of dns', 'wireguard / own / none'];
const ENTRIES = [...MATRIX.filter(({ name }) => NAMES.includes(name)), ...FURTHER, GECKO];

export function documentOf(minor: Minor, entries: readonly Named[] = ENTRIES): string {
  const texts = entries.map(({ name, entry }) =>
    compileOutbound(entry)({ client: CLIENT, server: 'sub.example', authority: 'sub.example:443', name }),
  );
  const names = entries.map(({ name }) => name);
  const forms = formsFor(minor, texts, names);
  return compileDocument(defaultTemplate(minor))(forms.entries, forms.names);
}

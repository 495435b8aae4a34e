// Who changes clients and inbounds for a central: the audit names it, and changes by others count as drift.
import type { Principal } from '../../kernel/index.js';

const KIND = 'central';

export const principalOf = (guid: string): Principal => ({ kind: KIND, name: guid });
export const isCentral = ({ kind }: Principal): boolean => kind === KIND;

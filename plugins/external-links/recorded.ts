// How external links are recorded by the plugin audit.
import { audited } from '../audit/contract.js';
import { duringLinksSave } from './contract.js';
import { sentPart } from './sent-links.js';

export const externalLinks = audited({
  area: 'externalLink',
  hook: duringLinksSave,
  // A share link, or a URL that opens the subscription of somebody.
  secret: ['value'],
  describe: ({ clientId, before, after }) => {
    const facts = (links: typeof before) => ({ links: links.map(sentPart) });
    return { kind: 'updated', name: '', id: clientId, before: facts(before), after: facts(after) };
  },
});

// Says that an entry is out of the draft, and offers to put it back.
import type { Say } from '../language/messages.js';
import { notify } from '../parts/notices.js';

export function removed(say: Say, what: string, putBack: () => void): void {
  notify(say('routing.removed', { what }), { text: say('undo'), run: putBack });
}

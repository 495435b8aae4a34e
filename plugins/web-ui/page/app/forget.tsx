// Forgets what the page knows when the admin leaves or another one has logged in, in this window or in another one.
import { claimStorage, whenLeft } from '../api/leaving.js';
import { session } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { nameIn } from '../api/session.js';
import { clearNotices } from '../parts/notices.js';

const storage = () => sessionStorage;

export function forgetOthers(): void {
  session.subscribe(() => {
    const state = session.state();
    if (state.kind === 'in') claimStorage(storage, state.name);
  });
  whenLeft(session, () => {
    queries.clear();
    clearNotices();
    claimStorage(storage, nameIn(session.state()));
    // What somebody has typed is in the forms that are shown: they go when all others have forgotten theirs, too.
    if (session.state().kind === 'in') setTimeout(() => location.reload());
  });
}

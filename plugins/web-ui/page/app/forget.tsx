// Forgets what the page knows when the admin leaves or another one has logged in, in this window or in another one.
import { claimStorage, whenLeft } from '../api/leaving.js';
import { session } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { clearNotices } from '../parts/notices.js';

const storage = () => sessionStorage;

export function forgetOthers(): void {
  let known = '';
  whenLeft(session, () => {
    known = '';
    queries.clear();
    clearNotices();
    claimStorage(storage, '');
    // What somebody has typed is in the forms that are shown: they go when all others have forgotten theirs, too.
    if (session.state().kind === 'in') setTimeout(() => location.reload());
  });
  session.subscribe(() => {
    const state = session.state();
    if (state.kind !== 'in') return;
    claimStorage(storage, state.name, known || state.name);
    known = state.name;
  });
}

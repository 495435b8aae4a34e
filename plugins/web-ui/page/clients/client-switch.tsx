// Switches a client on or off. The switch moves at once, and back if the panel refuses.
import { useMutation } from '@tanstack/react-query';
import { weir } from '../api/panel.js';
import { queries, rightsQuery } from '../api/queries.js';
import { mayWith } from '../api/may.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import type { ClientPage } from '../live/patches.js';
import { notifyTrouble } from '../parts/notices.js';
import { doUndoable } from './undo.js';

interface Switched {
  readonly id: number;
  readonly email: string;
  readonly enable: boolean;
}

export function ClientSwitch({ client }: { client: Switched }) {
  const { say } = useReader();
  const { id, email, enable } = client;
  const change = useMutation({
    mutationFn: (on: boolean) =>
      doUndoable(
        id,
        () => weir.clients.update({ email, body: { enable: on } }),
        say,
        say(on ? 'switch.on' : 'switch.off', { name: isolated(email) }),
      ),
    onMutate: (on) => showEnabled(email, on),
    onError: (error, on) => {
      showEnabled(email, !on);
      notifyTrouble(error);
    },
    // A client at a limit stays off, whatever was wished.
    onSuccess: async () => {
      // The change is done, also where nobody answers now.
      const stored = await weir.clients.get({ email }).catch(() => undefined);
      if (stored) showEnabled(email, stored.enable);
      void queries.invalidateQueries({ queryKey: ['client', email] });
    },
  });
  return (
    // Not that of React Aria: with one in each row, scrolling would take a fifth more.
    <label
      className="switch"
      data-pending={change.isPending || undefined}
      data-selected={enable || undefined}
    >
      <input
        type="checkbox"
        role="switch"
        className="unseen"
        aria-label={say('switch.label', { name: shownName(email) })}
        aria-checked={enable}
        checked={enable}
        // A query of its own in each row would make scrolling slower; the rights are known before any row is.
        disabled={change.isPending || !mayWith(queries.getQueryData(rightsQuery.queryKey), 'clients:write')}
        onChange={(event) => change.mutate(event.target.checked)}
      />
      <span className="switch-track" aria-hidden />
    </label>
  );
}

/** In the pages of the list and on the page of the client. */
function showEnabled(email: string, enable: boolean): void {
  queries.setQueriesData<ClientPage>({ queryKey: ['clients', 'page'] }, (page) =>
    page?.items.some((row) => row.email === email && row.enable !== enable)
      ? { ...page, items: page.items.map((row) => (row.email === email ? { ...row, enable } : row)) }
      : page,
  );
  queries.setQueryData(['client', email], (known: Switched | undefined) => known && { ...known, enable });
}

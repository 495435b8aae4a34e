// Leads to the page on which an entry of the draft is edited.
import { Link } from '@tanstack/react-router';
import { useReader } from '../language/context.js';
import type { Issue } from './draft-store.js';
import { placeName, placeOf } from './places.js';
import { useDraftState } from './use-draft.js';

export function PlaceLink({ path, leave }: { path: string; leave?: () => void }) {
  const { say } = useReader();
  const state = useDraftState();
  const place = placeOf(path);
  if (!place || !state) return <bdi dir="ltr">{path.replace(/^engineSetting\./, '')}</bdi>;
  return (
    <Link to={place.page} search={{ at: String(place.at) }} {...(leave && { onClick: leave })}>
      {placeName(place, state.now, say)}
    </Link>
  );
}

/** Why the core cannot run the draft, each with the way to its entry. */
export function IssueList({ issues, leave }: { issues: readonly Issue[]; leave: () => void }) {
  return (
    <ul className="stack">
      {issues.map(({ path, message }) => {
        const within = placeOf(path)?.within ?? '';
        return (
          <li key={path + message}>
            <PlaceLink path={path} leave={leave} /> {within !== '' && <code dir="ltr">{within}</code>}
            <p className="said" dir="auto">
              {message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message}
            </p>
          </li>
        );
      })}
    </ul>
  );
}

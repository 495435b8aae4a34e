// The name of a client, as a link to it.
import { Link } from '@tanstack/react-router';
import { shownName } from '../format/names.js';

export function ClientName({ email, tabIndex }: { email: string; tabIndex?: number }) {
  const shown = shownName(email);
  return (
    <Link
      to="/client"
      search={{ name: email, edit: undefined }}
      className="client-name"
      title={shown}
      tabIndex={tabIndex}
    >
      <bdi>{shown}</bdi>
    </Link>
  );
}

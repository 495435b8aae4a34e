// The outbounds of the template that lead through a tunnel service.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { shownName } from '../format/names.js';
import { addressOf } from './outbound-kinds.js';
import { TestButton, TestResult } from './outbound-test.js';
import { testsQuery } from './queries.js';
import { listOf, tagOf } from './template.js';
import { useDraftState } from './use-draft.js';

export function TunnelOutbounds({ isOurs }: { isOurs: (tag: string) => boolean }) {
  const state = useDraftState();
  const tests = useQuery(testsQuery).data;
  const found = listOf(state?.now ?? {}, 'outbounds')
    .map((outbound, at) => ({ outbound, at, tag: tagOf(outbound) }))
    .filter(({ tag }) => isOurs(tag));
  if (found.length === 0) return null;
  return (
    <ul className="routing-list">
      {found.map(({ outbound, at, tag }) => (
        <li key={at} className="routing-name">
          <Link to="/routing/outbound" search={{ at: String(at) }}>
            <bdi>{shownName(tag)}</bdi>
          </Link>
          <span dir="ltr" className="muted routing-address">
            {shownName(addressOf(outbound))}
          </span>
          <TestButton outbound={outbound} />
          <TestResult outbound={outbound} tested={tests[tag]} />
        </li>
      ))}
    </ul>
  );
}

// Links between pages that belong together. A page whose plugin does not run is not offered.
import { Link, type LinkProps, useRouterState } from '@tanstack/react-router';
import type { Needed } from '../api/may.js';
import { useMay } from '../api/rights.js';
import { useIsRunning } from '../api/running.js';
import { useReader } from '../language/context.js';
import type { MessageKey } from '../language/message-key.js';

export interface Tab {
  readonly to: LinkProps['to'];
  readonly text: MessageKey;
  /** the plugin that answers it */
  readonly plugin?: string;
  /** what the admin must be permitted */
  readonly needs?: Needed;
  /** the address of one of its records, which has no tab of its own */
  readonly record?: string;
}

export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const { say } = useReader();
  const isRunning = useIsRunning();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const may = useMay();
  const isOffered = ({ plugin, needs }: Tab): boolean =>
    (plugin === undefined || isRunning(plugin, true)) && (needs === undefined || may(needs));
  return (
    <nav aria-label={label}>
      <ul className="tabs">
        {tabs.filter(isOffered).map(({ to, text, record }) => (
          <li key={to}>
            <Link
              to={to}
              activeOptions={{ includeSearch: false }}
              className="tab"
              data-here={path === record || undefined}
            >
              {say(text)}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

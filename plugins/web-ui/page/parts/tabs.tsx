// Links between pages that belong together. A page whose plugin does not run is not offered.
import { Link, type LinkProps } from '@tanstack/react-router';
import { useIsRunning } from '../api/running.js';
import { useReader } from '../language/context.js';
import type { MessageKey } from '../language/message-key.js';

export interface Tab {
  readonly to: LinkProps['to'];
  readonly text: MessageKey;
  /** the plugin that answers it */
  readonly plugin?: string;
}

export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const { say } = useReader();
  const isRunning = useIsRunning();
  const isOffered = ({ plugin }: Tab): boolean => plugin === undefined || isRunning(plugin, true);
  return (
    <nav aria-label={label}>
      <ul className="tabs">
        {tabs.filter(isOffered).map(({ to, text }) => (
          <li key={to}>
            <Link to={to} activeOptions={{ includeSearch: false }} className="tab">
              {say(text)}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

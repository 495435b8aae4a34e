// Switches a node on or off: a disabled one is not called.
import { useMutation } from '@tanstack/react-query';
import { Switch } from 'react-aria-components';
import { weir } from '../api/panel.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { notifyTrouble } from '../parts/notices.js';
import { nodesChanged } from './queries.js';
import type { PanelNode } from './tree.js';

export function NodeSwitch({ node: { id, name, enable } }: { node: PanelNode }) {
  const { say } = useReader();
  const change = useMutation({
    mutationFn: (on: boolean) => weir.nodes.setEnable({ id, body: { enable: on } }),
    onError: notifyTrouble,
    onSettled: nodesChanged,
  });
  return (
    <Switch
      className="switch"
      data-pending={change.isPending || undefined}
      aria-label={say('nodes.switch', { name: shownName(name) })}
      isSelected={change.isPending ? change.variables : enable}
      isDisabled={change.isPending}
      onChange={(on) => change.mutate(on)}
    >
      <span className="switch-track" aria-hidden />
    </Switch>
  );
}

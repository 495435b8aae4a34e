// One host at an inbound: its addresses, its switch, its place, and what else is done with it.
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { Button, Switch } from 'react-aria-components';
import type { HostsAddInput } from '../../../../sdk/index.js';
import { weir } from '../api/panel.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { notify, notifyTrouble } from '../parts/notices.js';
import type { HostGroup } from './fields.js';
import { hostsChanged } from './queries.js';

const MOST_SHOWN = 3;

export interface HostRowProps {
  readonly group: HostGroup;
  /** undefined where it cannot go further */
  readonly mover: (step: -1 | 1) => (() => void) | undefined;
  /** names of its other inbounds */
  readonly others: readonly string[];
}

export function HostRow({ group, mover, others }: HostRowProps) {
  const { say } = useReader();
  const { groupId, remark, hosts, port, security, isHidden, tags } = group;
  const shown = hosts.length === 0 ? [''] : hosts;
  const remove = useDeletion(group);
  const up = mover(-1);
  const down = mover(1);
  return (
    <li className="host" data-host={groupId}>
      <HostSwitch group={group} />
      <div className="host-facts">
        <Link to="/host" search={{ id: groupId }} className="host-name">
          <bdi>{shownName(remark)}</bdi>
        </Link>
        <span className="actions">
          {shown.slice(0, MOST_SHOWN).map((host) =>
            host === '' ? (
              <span key="">{say('hosts.own')}</span>
            ) : (
              <bdi key={host} dir="ltr" className="host-address">
                {shownName(host)}
              </bdi>
            ),
          )}
          {shown.length > MOST_SHOWN && (
            <span>{say('hosts.more', { count: shown.length - MOST_SHOWN })}</span>
          )}
          {port > 0 && <span className="muted">{say('hosts.port', { port: String(port) })}</span>}
        </span>
        <span className="actions">
          {security !== 'same' && <span className="tag">{say(`hosts.security.${security}`)}</span>}
          {isHidden && <span className="tag">{say('hosts.field.isHidden')}</span>}
          {tags.map((tag) => (
            <bdi key={tag} className="tag" dir="ltr">
              {tag}
            </bdi>
          ))}
          {others.length > 0 && (
            <span className="muted">
              {say('hosts.also', {
                names: others.slice(0, 5).map(isolated).join(', '),
              })}
            </span>
          )}
        </span>
      </div>
      <div className="actions">
        <Button
          className="button icon"
          isDisabled={!up}
          aria-label={say('hosts.up', { name: isolated(remark) })}
          onPress={() => up?.()}
        >
          <ArrowUp size={16} aria-hidden />
        </Button>
        <Button
          className="button icon"
          isDisabled={!down}
          aria-label={say('hosts.down', { name: isolated(remark) })}
          onPress={() => down?.()}
        >
          <ArrowDown size={16} aria-hidden />
        </Button>
        <Button
          className="button small risky"
          isPending={remove.isPending}
          aria-label={say('hosts.deleteOf', { name: isolated(remark) })}
          onPress={() => remove.mutate()}
        >
          {say('delete.title')}
        </Button>
      </div>
    </li>
  );
}

/** Nobody asks: the notice makes the same group again, with its id, its order and all that it had. */
function useDeletion(group: HostGroup) {
  const { say } = useReader();
  const { groupId, remark } = group;
  return useMutation({
    mutationFn: () => weir.hosts.delete({ groupId }),
    onError: notifyTrouble,
    onSuccess() {
      const { version: _, ...body } = group;
      notify(say('hosts.deleted', { name: isolated(remark) }), {
        text: say('undo'),
        run: () =>
          weir.hosts
            .add({ body: body as HostsAddInput['body'] })
            .then(() => notify(say('undo.done')), notifyTrouble)
            .finally(() => void hostsChanged()),
      });
    },
    onSettled: hostsChanged,
  });
}

function HostSwitch({ group: { groupId, remark, isDisabled } }: { group: HostGroup }) {
  const { say } = useReader();
  const change = useMutation({
    mutationFn: (enable: boolean) => weir.hosts.setEnable({ groupId, body: { enable } }),
    onError: notifyTrouble,
    onSettled: hostsChanged,
  });
  return (
    <Switch
      className="switch"
      data-pending={change.isPending || undefined}
      aria-label={say('switch.label', { name: shownName(remark) })}
      isSelected={change.isPending ? change.variables : !isDisabled}
      isDisabled={change.isPending}
      onChange={(on) => change.mutate(on)}
    >
      <span className="switch-track" aria-hidden />
    </Switch>
  );
}

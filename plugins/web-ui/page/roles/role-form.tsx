// A role: a level for each resource of the panel, or what a kind of role has instead.
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import { weir } from '../api/panel.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Field } from '../parts/field.js';
import { Problem } from '../parts/problem.js';
import { GroupsOfRole } from './groups-of-role.js';
import { LEVELS, levelOf, withLevel } from './levels.js';
import { resourcesQuery } from './queries.js';

const ROLE_KINDS = ['', 'reseller', 'groups'] as const;
type RoleKind = (typeof ROLE_KINDS)[number];

export interface ShownRole {
  readonly id: number;
  readonly name: string;
  readonly permissions: readonly string[];
  readonly kind: string;
  readonly groups: readonly string[];
  readonly level: string;
}
export interface RoleFormProps {
  readonly role: ShownRole | 'new';
  readonly saved: () => void;
  readonly close: () => void;
}

export function RoleForm({ role, saved, close }: RoleFormProps) {
  const { say } = useReader();
  const resources = useQuery(resourcesQuery);
  const [name, setName] = useState(role === 'new' ? '' : role.name);
  const [permissions, setPermissions] = useState<readonly string[]>(role === 'new' ? [] : role.permissions);
  const known = role === 'new' ? undefined : role;
  const [kind, setKind] = useState<RoleKind>(ROLE_KINDS.find((one) => one === known?.kind) ?? '');
  const [groups, setGroups] = useState<readonly string[]>(known?.groups ?? []);
  const [level, setLevel] = useState<'read' | 'write'>(known?.level === 'write' ? 'write' : 'read');
  const save = useMutation({
    mutationFn: async () => {
      const body = {
        name: name.trim(),
        permissions: kind === '' ? [...permissions] : [],
        ...(kind === 'groups' && { groups: [...groups], level }),
      };
      await (role === 'new'
        ? weir.roles.add({ body: { ...body, kind } })
        : weir.roles.update({ id: role.id, body }));
    },
    onSuccess: close,
    onSettled: saved,
  });
  const issues = save.error instanceof PanelFailure ? save.error.issues : [];
  const problem = issues.find(({ path }) => path === 'name')?.message;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!save.isPending) save.mutate();
  };
  return (
    <Form className="stack" onSubmit={submit}>
      <Field
        label={say('roles.name')}
        value={name}
        onChange={setName}
        maxLength={64}
        isRequired
        autoFocus
        {...(problem !== undefined && { problem })}
      />
      {role === 'new' && (
        <Choice
          label={say('resellers.kind')}
          value={kind}
          options={[
            { value: '', text: say('resellers.kindPermissions') },
            { value: 'reseller', text: say('resellers.kindReseller') },
            { value: 'groups', text: say('groupRoles.kind') },
          ]}
          choose={setKind}
        />
      )}
      <p className="muted">{say('roles.permissionsHint')}</p>
      {resources.error && <Problem error={resources.error} retry={() => void resources.refetch()} />}
      {resources.isPending && <p className="muted">{say('loading')}</p>}
      {(kind === '' ? (resources.data?.resources ?? []) : []).map((resource) => (
        <Choice
          key={resource.name}
          label={resource.name}
          hint={resource.about}
          value={levelOf(permissions, resource.name)}
          options={LEVELS.map((level) => ({ value: level, text: say(`roles.level.${level}`) }))}
          choose={(level) => setPermissions(withLevel(permissions, resource.name, level))}
        />
      ))}
      {kind === 'groups' && (
        <GroupsOfRole chosen={groups} choose={setGroups} level={level} setLevel={setLevel} />
      )}
      {save.error && problem === undefined && <Problem error={save.error} />}
      <div className="actions end">
        <Button className="button" onPress={close}>
          {say('cancel')}
        </Button>
        <Button type="submit" className="button main" isPending={save.isPending}>
          {role === 'new' ? say('new.submit') : say('save')}
        </Button>
      </div>
    </Form>
  );
}

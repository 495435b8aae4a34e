// What a role of the kind groups is about: whose clients its admins see, and whether they change them.
import { useQuery } from '@tanstack/react-query';
import { shownName } from '../format/names.js';
import { groupsQuery } from '../groups/queries.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Problem } from '../parts/problem.js';

export interface GroupsOfRoleProps {
  readonly chosen: readonly string[];
  readonly choose: (groups: readonly string[]) => void;
  readonly level: 'read' | 'write';
  readonly setLevel: (level: 'read' | 'write') => void;
}

export function GroupsOfRole({ chosen, choose, level, setLevel }: GroupsOfRoleProps) {
  const { say } = useReader();
  const groups = useQuery(groupsQuery);
  // One that has no clients now stays a choice: the role names it.
  const names = [...new Set([...(groups.data ?? []).map(({ name }) => name), ...chosen])];
  return (
    <>
      <Choice
        label={say('groupRoles.level')}
        value={level}
        options={[
          { value: 'read', text: say('roles.level.read') },
          { value: 'write', text: say('roles.level.write') },
        ]}
        choose={setLevel}
      />
      {groups.error && <Problem error={groups.error} retry={() => void groups.refetch()} />}
      <fieldset className="checks">
        <legend>{say('groups.title')}</legend>
        {names.length === 0 && <p className="muted">{say(groups.isPending ? 'loading' : 'groups.none')}</p>}
        {names.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={chosen.includes(name)}
              onChange={({ target }) =>
                choose(target.checked ? [...chosen, name] : chosen.filter((other) => other !== name))
              }
            />
            <bdi className="clip">{shownName(name)}</bdi>
          </label>
        ))}
      </fieldset>
    </>
  );
}

// Somebody else has saved the inbound meanwhile: what the reader has, and what is there.
import { Button } from 'react-aria-components';
import type { Values } from '../forms/schema.js';
import { useReader } from '../language/context.js';

interface ConflictProps {
  readonly mine: Values;
  readonly theirs: Values;
  readonly keep: () => void;
  readonly take: () => void;
}

export function Conflict({ mine, theirs, keep, take }: ConflictProps) {
  const { say } = useReader();
  return (
    <section className="card">
      <p>{say('inbounds.conflict')}</p>
      {Object.entries(mine).map(([name, value]) => (
        <dl key={name}>
          <dt dir="ltr">{name}</dt>
          <dd>
            {say('inbounds.mine')}: <code dir="ltr">{JSON.stringify(value)}</code>
          </dd>
          <dd>
            {say('inbounds.theirs')}: <code dir="ltr">{JSON.stringify(theirs[name])}</code>
          </dd>
        </dl>
      ))}
      <div className="actions">
        <Button className="button" onPress={keep}>
          {say('inbounds.mine')}
        </Button>
        <Button className="button" onPress={take}>
          {say('inbounds.takeTheirs')}
        </Button>
      </div>
    </section>
  );
}

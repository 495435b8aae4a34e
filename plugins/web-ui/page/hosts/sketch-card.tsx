// The links that a form would make, beside it.
import { useReader } from '../language/context.js';
import type { TypedHost } from './fields.js';
import { sketchOf } from './sketch.js';

export function SketchCard({ typed }: { typed: TypedHost }) {
  const { say } = useReader();
  const { links, more } = sketchOf(typed);
  return (
    <section className="card sketch" aria-labelledby="sketch">
      <h2 id="sketch">{say('hosts.sketch')}</h2>
      <p className="hint">{say('hosts.sketchHint')}</p>
      <ul className="stack" dir="ltr">
        {links.map((link) => (
          <li key={link}>
            <code>{link}</code>
          </li>
        ))}
      </ul>
      {more > 0 && <p className="hint">{say('hosts.more', { count: more })}</p>}
      {typed.isHidden === '1' && <p className="hint">{say('hosts.hint.isHidden')}</p>}
    </section>
  );
}

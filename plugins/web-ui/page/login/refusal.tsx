// A login by another proof, or a link, that failed, after the browser came back from elsewhere.
import { useReader } from '../language/context.js';
import { refusalOf } from './refusals.js';

export function Refusal({ code }: { code: string | undefined }) {
  const { say } = useReader();
  const refusal = refusalOf(code);
  return refusal ? (
    <div className="problem" role="alert">
      <div>
        <p>{say(refusal.text)}</p>
        <code dir="ltr">{refusal.code}</code>
      </div>
    </div>
  ) : null;
}

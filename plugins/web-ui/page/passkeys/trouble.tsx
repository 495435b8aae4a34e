// Why a passkey could not be made or used.
import { useReader } from '../language/context.js';
import { Problem } from '../parts/problem.js';
import { deviceTroubleOf } from './device.js';

export function PasskeyTrouble({ error }: { error: unknown }) {
  const { say } = useReader();
  const text = deviceTroubleOf(error);
  return text === undefined ? (
    <Problem error={error} />
  ) : (
    <div className="problem" role="alert">
      <p>{say(text)}</p>
    </div>
  );
}

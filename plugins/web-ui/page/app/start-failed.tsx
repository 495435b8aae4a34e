// The panel did not say whether there is a session.
import { Problem } from '../parts/problem.js';

export const StartFailed = ({ error, retry }: { error: unknown; retry: () => void }) => (
  <main className="alone">
    <Problem error={error} retry={retry} />
  </main>
);

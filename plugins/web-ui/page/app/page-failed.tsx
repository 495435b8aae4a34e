// A page that broke: what was typed elsewhere is safe, and it can be tried again.
import { useRouter } from '@tanstack/react-router';
import { Problem } from '../parts/problem.js';

interface Failed {
  readonly error: unknown;
  readonly reset: () => void;
}

/** In place of the whole page. */
export const PageFailed = (failed: Failed) => (
  <main className="alone">
    <PartFailed {...failed} />
  </main>
);

/** Below the bar, which stays. */
export function PartFailed({ error, reset }: Failed) {
  const router = useRouter();
  const again = () => {
    reset();
    void router.invalidate();
  };
  return <Problem error={error} retry={again} />;
}

// A page that broke: what was typed elsewhere is safe, and it can be tried again.
import { useRouter } from '@tanstack/react-router';
import { Problem } from '../parts/problem.js';

export function PageFailed({ error, reset }: { error: unknown; reset: () => void }) {
  const router = useRouter();
  const again = () => {
    reset();
    void router.invalidate();
  };
  return (
    <main className="alone">
      <Problem error={error} retry={again} />
    </main>
  );
}

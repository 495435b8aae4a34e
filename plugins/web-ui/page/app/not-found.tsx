import { Link } from '@tanstack/react-router';
import { useReader } from '../language/context.js';

export function NotFound() {
  const { say } = useReader();
  return (
    <main className="alone">
      <h1>{say('missing.title')}</h1>
      <p>{say('missing.text')}</p>
      <Link to="/" className="button">
        {say('missing.home')}
      </Link>
    </main>
  );
}

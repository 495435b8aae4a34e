// The API for programs: where it is, which tokens use it, and a call to try.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { panelUrl, weir } from '../api/panel.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Copy } from '../parts/copy.js';
import { Problem } from '../parts/problem.js';
import { tokensQuery } from '../system/queries.js';
import { readingCalls } from './operations.js';
import { TryCall } from './try-call.js';
import '../clients/clients.css';
import './api-page.css';

const DAY = 24 * 3_600_000;
const documentQuery = queryOptions({
  queryKey: ['openapi'],
  queryFn: async ({ signal }) => readingCalls(await weir.system.openApi({}, { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

export function ApiPage() {
  const { say } = useReader();
  const calls = useQuery(documentQuery);
  const address = new URL('panel/api/', panelUrl).href;
  return (
    <div className="stack">
      <section className="card" aria-labelledby="api-address">
        <h2 id="api-address">{say('api.address')}</h2>
        <p className="hint">{say('api.about')}</p>
        <Copy text={address} label={say('api.address')} />
        <div className="actions">
          <a
            className="button"
            href={new URL('panel/x/api-docs/', panelUrl).href}
            target="_blank"
            rel="noreferrer"
          >
            {say('api.allCalls')}
          </a>
          <a
            className="button"
            href={new URL('panel/api/openapi.json?raw=1', panelUrl).href}
            target="_blank"
            rel="noreferrer"
          >
            {say('api.document')}
          </a>
        </div>
      </section>
      <Tokens />
      <section className="card" aria-labelledby="api-try">
        <h2 id="api-try">{say('api.try')}</h2>
        <p className="hint">{say('api.tryHint')}</p>
        {calls.error && <Problem error={calls.error} retry={() => void calls.refetch()} />}
        {calls.isPending && <p role="status">{say('loading')}</p>}
        {calls.data && <TryCall calls={calls.data} />}
      </section>
    </div>
  );
}

/** Which tokens are used, and which are not: one that nobody uses is better deleted. */
function Tokens() {
  const { say, format } = useReader();
  const tokens = useQuery(tokensQuery);
  const now = Date.now();
  const sorted = [...(tokens.data ?? [])].sort((a, b) => b.lastUsedAt - a.lastUsedAt);
  return (
    <section className="card" aria-labelledby="api-tokens">
      <div className="card-head">
        <h2 id="api-tokens">{say('system.tokens')}</h2>
        <Link to="/system/access" className="button">
          {say('api.manage')}
        </Link>
      </div>
      {tokens.error && <Problem error={tokens.error} retry={() => void tokens.refetch()} />}
      {tokens.data?.length === 0 && <p className="muted">{say('system.noTokens')}</p>}
      <ul className="lines">
        {sorted.map(({ id, name, enabled, expiresAt, lastUsedAt, kind }) => (
          <li key={id}>
            <div>
              <strong>
                <bdi>{shownName(name)}</bdi>
              </strong>
              <span className="muted">
                {lastUsedAt === 0
                  ? say('system.unused')
                  : say('system.used', { time: format.distance(lastUsedAt * 1000, now) })}
              </span>
            </div>
            <span className="actions end">
              <span className="tag">{say(kind === '' ? 'api.admin' : 'api.node')}</span>
              {!enabled && <span className="tag">{say('api.off')}</span>}
              {expiresAt > 0 && expiresAt <= now && <span className="tag">{say('api.over')}</span>}
              {expiresAt > now && expiresAt < now + 7 * DAY && (
                <span className="tag">{say('system.ends', { time: format.distance(expiresAt, now) })}</span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

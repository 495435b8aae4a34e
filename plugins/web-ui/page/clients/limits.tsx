// What a client may use, and what it has used.
import type { ClientsGetReply } from '../../../../sdk/index.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Meter } from '../parts/meter.js';
import { Ends } from './cells.js';
import { usedBytes, usedShare } from './state.js';

export function Limits({ client }: { client: ClientsGetReply }) {
  const { say, format } = useReader();
  const { totalGB, expiryTime, limitIp, limitHwid, traffic, group, comment, reset } = client;
  const share = usedShare(client);
  const used = format.bytes(usedBytes(client));
  const lastOnline = traffic?.lastOnline ?? 0;
  const limit = (value: number): string => (value > 0 ? format.number(value) : say('limit.none'));
  return (
    <section className="card" aria-labelledby="limits">
      <h2 id="limits">{say('limits.title')}</h2>
      {share !== undefined && <Meter share={share} label={say('column.usage')} />}
      <dl className="facts">
        <dt>{say('column.usage')}</dt>
        <dd>{totalGB > 0 ? say('usage.of', { used, all: format.bytes(totalGB) }) : used}</dd>
        <dt>{say('limits.split')}</dt>
        <dd>
          {say('tiles.networkNote', {
            down: format.bytes(traffic?.down ?? 0),
            up: format.bytes(traffic?.up ?? 0),
          })}
        </dd>
        <dt>{say('column.ends')}</dt>
        <dd>
          <Ends expiryTime={expiryTime} now={Date.now()} />
          {expiryTime > 0 && <span className="muted"> · {format.moment(expiryTime)}</span>}
        </dd>
        {reset > 0 && (
          <>
            <dt>{say('field.reset')}</dt>
            <dd>{say('limits.everyDays', { count: reset })}</dd>
          </>
        )}
        <dt>{say('field.limitHwid')}</dt>
        <dd>{limit(limitHwid)}</dd>
        <dt>{say('field.limitIp')}</dt>
        <dd>{limit(limitIp)}</dd>
        <dt>{say('column.seen')}</dt>
        <dd>{lastOnline > 0 ? format.moment(lastOnline) : say('seen.never')}</dd>
        {group !== '' && (
          <>
            <dt>{say('field.group')}</dt>
            <dd>
              <bdi>{shownName(group)}</bdi>
            </dd>
          </>
        )}
        {comment !== '' && (
          <>
            <dt>{say('field.comment')}</dt>
            <dd dir="auto" className="long">
              {comment}
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

// Which inbounds of a node this panel takes over: all that it has, or some by their tags.
import { useQuery } from '@tanstack/react-query';
import { weir } from '../api/panel.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { usePortion } from '../parts/portion.js';
import { Problem } from '../parts/problem.js';
import type { NodeBody, TypedNode } from './wanted.js';

export interface AdoptedProps {
  readonly typed: TypedNode;
  readonly set: (change: Partial<TypedNode>) => void;
  /** how to call the panel; undefined until it has answered */
  readonly body: NodeBody | undefined;
  readonly id: number | undefined;
}

export function Adopted({ typed, set, body, id }: AdoptedProps) {
  const { say } = useReader();
  const { inboundSyncMode: mode, inboundTags: tags } = typed;
  return (
    <>
      <Choice
        label={say('nodes.adopt')}
        value={mode}
        options={[
          { value: 'all', text: say('nodes.adopt.all') },
          { value: 'selected', text: say('nodes.adopt.selected') },
        ]}
        choose={(inboundSyncMode) => set({ inboundSyncMode })}
      />
      <p className="hint">{say('nodes.adopt.cost')}</p>
      {mode === 'selected' && !body && (
        <p className="muted">{say('nodes.adopt.testFirst', { count: tags.length })}</p>
      )}
      {mode === 'selected' && body && <Tags tags={tags} set={set} body={body} id={id} />}
    </>
  );
}

interface TagsProps {
  readonly tags: readonly string[];
  readonly set: AdoptedProps['set'];
  readonly body: NodeBody;
  readonly id: number | undefined;
}

function Tags({ tags, set, body, id }: TagsProps) {
  const { say } = useReader();
  const { scheme, address, port, basePath } = body;
  const offered = useQuery({
    // Without the token: it is no part of what is stored in the page.
    queryKey: ['nodes', 'offered', id, scheme, address, port, basePath],
    queryFn: ({ signal }) =>
      weir.nodes.inbounds({ body: { ...body, ...(id !== undefined && { id }) } }, { signal }),
    gcTime: 0,
  });
  const { shown, more } = usePortion(offered.data ?? []);
  const toggle = (tag: string, isOn: boolean): void =>
    set({ inboundTags: isOn ? [...tags, tag] : tags.filter((other) => other !== tag) });
  if (offered.error) return <Problem error={offered.error} retry={() => void offered.refetch()} />;
  const there = new Set(offered.data?.map(({ tag }) => tag));
  const lost = tags.filter((tag) => offered.data && !there.has(tag));
  return (
    <fieldset className="checks">
      <legend className="unseen">{say('nodes.adopt')}</legend>
      {offered.isPending && <p role="status">{say('loading')}</p>}
      {offered.data?.length === 0 && lost.length === 0 && (
        <p className="muted">{say('nodes.adopt.nothing')}</p>
      )}
      {shown.map(({ tag, remark, protocol, port: at }) => (
        <label key={tag}>
          <input
            type="checkbox"
            checked={tags.includes(tag)}
            onChange={({ target }) => toggle(tag, target.checked)}
          />
          <bdi className="clip">{shownName(remark || tag)}</bdi>
          <span className="muted" dir="ltr">
            {protocol} {at > 0 && at}
          </span>
        </label>
      ))}
      {more}
      {lost.map((tag) => (
        <label key={tag}>
          <input type="checkbox" checked onChange={() => toggle(tag, false)} />
          <bdi className="clip">{shownName(tag)}</bdi>
          <span className="tag">{say('nodes.adopt.lost')}</span>
        </label>
      ))}
    </fieldset>
  );
}

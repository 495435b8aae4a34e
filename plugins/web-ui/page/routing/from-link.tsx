// Outbounds out of share links: one per line, and a line that cannot be read stays with the reason.
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import { weir } from '../api/panel.js';
import { useReader } from '../language/context.js';
import { Field } from '../parts/field.js';
import { notify } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { Sheet } from '../parts/sheet.js';
import { linesOf, MOST_LINKS, named, withoutPath } from './link-lines.js';
import { draft } from './queries.js';
import { listOf } from './template.js';

interface Refused {
  readonly line: string;
  readonly reason: string;
}

export function FromLink() {
  const { say } = useReader();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const [refused, setRefused] = useState<readonly Refused[]>([]);
  const lines = linesOf(typed);
  const read = useMutation({
    mutationFn: async () => {
      const wrong: Refused[] = [];
      let count = 0;
      for (const [at, line] of lines.entries())
        try {
          const { name, outbound } = await weir.outboundSubs.link({ body: { link: line } });
          draft.changeList('outbounds', (list) => [...list, named(list, name, outbound)]);
          count++;
          setTyped([...wrong.map((one) => one.line), ...lines.slice(at + 1)].join('\n'));
        } catch (error) {
          const [issue] = error instanceof PanelFailure ? error.issues : [];
          if (!issue) throw error;
          wrong.push({ line, reason: withoutPath(issue.message) });
        }
      setRefused(wrong);
      return { count, isWhole: wrong.length === 0 };
    },
    onSuccess: ({ count, isWhole }) => {
      if (count > 0) notify(say('routing.link.added', { count }));
      if (!isWhole) return;
      setOpen(false);
      const last = listOf(draft.state()?.now ?? {}, 'outbounds').length - 1;
      if (count === 1) void navigate({ to: '/routing/outbound', search: { at: String(last) } });
    },
  });
  const isTooLong = lines.length > MOST_LINKS;
  const problem = isTooLong
    ? say('routing.link.tooMany', { most: MOST_LINKS })
    : refused.map(({ reason }) => reason).join('\n');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (lines.length > 0 && !isTooLong && !read.isPending) read.mutate();
  };
  return (
    <>
      <Button className="button" onPress={() => setOpen(true)}>
        {say('routing.fromLink')}
      </Button>
      <Sheet title={say('routing.fromLink')} isOpen={isOpen} close={() => setOpen(false)}>
        <Form className="stack" onSubmit={submit}>
          <Field
            label={say('routing.link.links')}
            hint={say('routing.link.hint')}
            isLong
            isPlain
            autoFocus
            autoComplete="off"
            value={typed}
            onChange={(next) => {
              setTyped(next);
              setRefused([]);
              read.reset();
            }}
            {...(problem !== '' && { problem })}
          />
          {read.error && <Problem error={read.error} />}
          <div className="actions end">
            <Button className="button" onPress={() => setOpen(false)}>
              {say('cancel')}
            </Button>
            <Button
              type="submit"
              className="button main"
              isPending={read.isPending}
              isDisabled={lines.length === 0 || isTooLong}
            >
              {say('routing.link.add')}
            </Button>
          </div>
        </Form>
      </Sheet>
    </>
  );
}

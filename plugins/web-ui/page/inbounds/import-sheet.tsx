// Imports an inbound from a JSON document: pasted, or of a file.
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, FileTrigger, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { useReader } from '../language/context.js';
import { Field } from '../parts/field.js';
import { notify } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { Sheet } from '../parts/sheet.js';
import { clientCount, importedOf } from './copying.js';

/** Longer documents are refused by the panel. */
const MOST_BYTES = 10 * 1024 * 1024;

export function ImportSheet({ close }: { close: () => void }) {
  const { say, format } = useReader();
  const [text, setText] = useState('');
  const [isLarge, setLarge] = useState(false);
  const { document, fault } = text.trim() === '' ? {} : importedOf(text);
  const take = useMutation({
    mutationFn: () => weir.inbounds.import({ body: { data: document ?? {} } }),
    onSuccess: () => {
      notify(say('inbounds.imported'));
      void queries.invalidateQueries({ queryKey: ['inbounds'] });
      void queries.invalidateQueries({ queryKey: ['clients'] });
      close();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (document && !take.isPending) take.mutate();
  };
  const read = async (files: FileList | null): Promise<void> => {
    const file = files?.[0];
    if (!file) return;
    setLarge(file.size > MOST_BYTES);
    if (file.size <= MOST_BYTES) setText(await file.text());
  };
  const problem = isLarge
    ? say('inbounds.importLarge', { most: format.bytes(MOST_BYTES) })
    : fault && say(`inbounds.importFault.${fault.kind}`, { line: fault.line });
  return (
    <Sheet title={say('inbounds.importTitle')} isOpen close={close}>
      <Form className="stack" onSubmit={submit}>
        <Field
          label={say('inbounds.importText')}
          hint={say('inbounds.importHint')}
          isLong
          isPlain
          {...(problem !== undefined && { problem })}
          value={text}
          onChange={(next) => {
            setLarge(false);
            setText(next);
          }}
        />
        <FileTrigger acceptedFileTypes={['application/json', '.json']} onSelect={(files) => void read(files)}>
          <Button className="button">{say('inbounds.importFile')}</Button>
        </FileTrigger>
        {document && (
          <p role="status">
            {say('inbounds.importShows', {
              protocol: String(document['protocol']),
              port: String(document['port'] ?? ''),
              count: clientCount(document),
            })}
          </p>
        )}
        {take.error && <Problem error={take.error} />}
        {take.error instanceof PanelFailure && <p className="hint">{say('inbounds.importNothing')}</p>}
        <div className="actions end">
          <Button className="button" onPress={close}>
            {say('cancel')}
          </Button>
          <Button
            type="submit"
            className="button main"
            isPending={take.isPending}
            isDisabled={!document || isLarge}
          >
            {say('inbounds.import')}
          </Button>
        </div>
      </Form>
    </Sheet>
  );
}
